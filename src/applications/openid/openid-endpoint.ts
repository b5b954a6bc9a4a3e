import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import { answerHeaders, sendError } from '../../platform/http/error-envelope';
import { AddressLimit } from '../../platform/limits/address-limit';
import { DomainError } from '../../shared/errors/domain-error';
import { Random } from '../../shared/random';
import type { OpenIdProviderSettings } from '../openid-settings';
import { browserOf, newBrowser } from '../../platform/http/browser-cookie';
import type { BrowserRequest } from './ports';
import { submitHash } from './pages';

export const openIdProvider = Symbol('the OpenID provider');
export const openIdProviderSettings = Symbol('the settings of the OpenID provider');

const headers = {
  ...answerHeaders,
  'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; script-src ${submitHash}; base-uri 'none'; frame-ancestors 'none'`,
  'x-frame-options': 'DENY',
};

/**
 * The paths below the issuer. The provider reads the request and writes the answer itself: its bodies and errors are those
 * of OAuth 2.0, not the envelope. Limits, request ids, the access log and the metrics are those of every route.
 */
@Injectable()
export class OpenIdEndpoint implements OnModuleInit {
  private readonly issuer: URL;
  private readonly answer: (request: BrowserRequest, response: FastifyReply['raw']) => Promise<void>;

  constructor(
    private readonly host: HttpAdapterHost,
    @Inject(openIdProvider) provider: Provider,
    @Inject(openIdProviderSettings) private readonly settings: OpenIdProviderSettings & { readonly systemUrl: string },
    private readonly limit: AddressLimit,
    private readonly random: Random,
  ) {
    this.issuer = new URL(settings.issuer);
    this.answer = provider.callback();
  }

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    void fastify.register((scope, _options, done) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
      for (const path of this.paths()) {
        scope.route({
          method: ['GET', 'POST', 'OPTIONS'],
          url: `${path}/*`,
          // Each application has its own origins, which the provider knows.
          config: { cors: false },
          handler: (request, reply) => this.handle(request, reply, path),
        });
      }
      done();
    });
  }

  /** The path of the issuer. An ingress may have removed the path of `SYSTEM_URL` from its beginning. */
  private paths(): readonly string[] {
    const { pathname } = this.issuer;
    const prefix = new URL(this.settings.systemUrl).pathname.replace(/\/$/, '');
    const within = prefix !== '' && pathname.startsWith(`${prefix}/`) ? [pathname.slice(prefix.length)] : [];
    return [pathname, ...within];
  }

  private async handle(request: FastifyRequest, reply: FastifyReply, path: string): Promise<void> {
    const { pathname } = this.issuer;
    const raw: BrowserRequest = request.raw;
    const rest = (raw.url ?? '').slice(path.length);
    try {
      await this.limit.count(groupOf(rest, raw.headers.authorization), request.client.ip);
    } catch (error) {
      if (error instanceof DomainError) return sendError(reply, error, request.client.language);
      throw error;
    }
    raw.portalClient = request.client;
    raw.originalUrl = `${pathname}${rest}`;
    raw.url = rest;
    // Whatever the client or an ingress says: the address of the provider is the issuer.
    raw.headers['x-forwarded-proto'] = this.issuer.protocol.slice(0, -1);
    raw.headers['x-forwarded-host'] = this.issuer.host;
    raw.headers['x-forwarded-for'] = request.client.ip;
    // A name would be written into the URLs that the provider makes.
    raw.headers.host = this.issuer.host;
    for (const [name, value] of Object.entries({ ...headers, 'x-request-id': request.id }))
      reply.raw.setHeader(name, value);
    // The browser sends no cookie with a form of another site. The GET that follows has it (`postedRequests`).
    if (/^\/device\b/i.test(rest) || (/^\/auth\b/i.test(rest) && raw.method !== 'POST'))
      this.recogniseBrowser(raw, reply);
    reply.hijack();
    await this.answer(raw, reply.raw);
  }

  private recogniseBrowser(raw: BrowserRequest, reply: FastifyReply): void {
    raw.portalBrowser = browserOf(this.settings.issuer, 'browser', raw.headers.cookie);
    if (raw.portalBrowser !== undefined) return;
    const [value, header] = newBrowser(this.settings.issuer, 'browser', this.random);
    raw.portalBrowser = value;
    reply.raw.setHeader('set-cookie', [header]);
  }
}

/**
 * Applications ask from few addresses, for all of their users. The code of a device is short, so its form has the limit
 * of codes. A pushed request and the start of a device each write a row, and without a secret anybody can send them. The provider
 * ignores the case of a path, and takes a backslash for a slash where `#` follows the path. So every path that begins with
 * `/device` and is not below `/device/` counts as the form.
 */
function groupOf(path: string, authorization = '') {
  if (/^\/device(?!\/[\w-])/i.test(path)) return 'otp';
  if (/^\/(request|device\/auth)\b/i.test(path) && !/^basic /i.test(authorization)) return 'other';
  return /^\/(auth|session)\b/i.test(path) ? 'other' : 'introspection';
}
