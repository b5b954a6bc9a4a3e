import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fastifyStatic from '@fastify/static';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OpenIdSettings } from '../applications/openid-settings';
import { CaptchaSettings } from '../captcha/captcha-settings';
import { brandPath, BrandSettings } from '../mail/brand-settings';
import { HttpSettings } from '../platform/config/http-settings';
import { ServiceSettings } from '../platform/config/service-settings';
import { PortalSettings } from './portal-settings';
import { programFolder } from '../platform/version';
import { contentSecurityPolicy, imagePolicy } from './content-security-policy';

/** The paths of the pages (portal/src/paths.ts). None is a path of the API, so no answer of the API changes. */
const pagePaths = [
  '/',
  '/code',
  '/forgot-password',
  '/reset-password',
  '/account',
  '/account/welcome',
  '/account/security',
  '/account/devices',
  '/account/activity',
  '/account/authenticator',
  '/continue',
  '/device',
  '/outbox',
  '/admin',
];

const hour = 3_600_000;
const year = 365 * 24 * hour;

/** Values of the pages' `<meta name="portal:…">` tags. */
@Injectable()
export class PageSettings {
  readonly values = new Map<string, string>();
}

/** Serves the built web pages from the same port as the service, when `PORTAL` is on. */
@Injectable()
export class PortalPages implements OnModuleInit {
  private readonly logger = new Logger('portal');

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly portal: PortalSettings,
    private readonly service: ServiceSettings,
    private readonly http: HttpSettings,
    private readonly captcha: CaptchaSettings,
    private readonly brand: BrandSettings,
    private readonly applications: OpenIdSettings,
    private readonly settings: PageSettings,
  ) {}

  onModuleInit(): void {
    if (!this.portal.on) return;
    const folder = join(programFolder, 'portal/dist');
    if (!existsSync(join(folder, 'index.html'))) {
      if (this.service.production)
        throw new Error('PORTAL is on, and the web pages are not built (npm run build:portal)');
      this.logger.warn('the web pages are not built, so they are not served: run npm run build:portal');
      return;
    }
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    this.servePages(fastify, readFileSync(join(folder, 'index.html'), 'utf8'));
    // The name of a file in this folder changes with its content. Routes of the compressed files would only cost time at the start.
    const assets = { root: join(folder, 'assets'), prefix: '/assets/', globIgnore: ['**/*.br', '**/*.gz'] };
    serveFiles(fastify, { ...assets, maxAge: year, immutable: true });
    const { brandDir } = this.portal;
    if (brandDir !== undefined) {
      serveFiles(fastify, { root: resolve(brandDir), prefix: brandPath, maxAge: hour, policy: imagePolicy });
    }
    const icon = readFileSync(join(folder, 'favicon.svg'));
    fastify.get('/favicon.svg', (_request, reply) => reply.type('image/svg+xml').send(icon));
  }

  private servePages(fastify: FastifyInstance, page: string): void {
    const { openId } = this.applications;
    this.settings.values.set('service', this.http.apiPrefix);
    if (openId !== undefined) this.settings.values.set('issuer', openId.issuer);
    const content = [...this.settings.values].reduce(
      (html, [name, value]) =>
        html.replace(new RegExp(`(<meta name="portal:${name}" content=)"[^"]*"`), `$1"${value}"`),
      page,
    );
    const headers = {
      'content-security-policy': contentSecurityPolicy({ captcha: this.captcha, brand: this.brand, openId }),
      'cross-origin-opener-policy': 'same-origin',
    };
    const show = (_request: unknown, reply: FastifyReply) =>
      reply.headers(headers).type('text/html; charset=utf-8').send(content);
    for (const path of pagePaths) fastify.get(path, show);
    // For an unknown path, a browser gets the "not found" page. An API client gets the error of the service.
    fastify.addHook('onRequest', (request, reply, done) => {
      if (!request.is404 || !this.isPageRequest(request)) return done();
      const page = pageWithoutSlash(request.url);
      if (page === undefined) void show(request, reply.code(404));
      else void reply.redirect(page);
    });
  }

  private isPageRequest({ method, url, headers }: FastifyRequest): boolean {
    const { apiPrefix } = this.http;
    if (apiPrefix !== '' && url.startsWith(`${apiPrefix}/`)) return false;
    return (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '');
  }
}

/**
 * Where a page with a slash at its end leads. The answer is relative, because an ingress may have removed a path from the request,
 * and begins with two dots, so it cannot name another host.
 */
function pageWithoutSlash(url: string): string | undefined {
  const [, path = '', query = ''] = /^([^?]*[^?/])\/(\?.*)?$/.exec(url) ?? [];
  return pagePaths.includes(path) ? `..${path.slice(path.lastIndexOf('/'))}${query}` : undefined;
}

interface Files {
  readonly root: string;
  readonly prefix: string;
  /** Milliseconds. */
  readonly maxAge: number;
  readonly immutable?: boolean;
  /** Files that get no route. They are still sent in place of the file that they compress. */
  readonly globIgnore?: string[];
  readonly policy?: string;
}

/**
 * A file `name.js.br` or `name.js.gz` beside `name.js` is sent to a client that accepts its encoding. An await would load
 * the plugin at once. All routes so far would then keep the error handler of Fastify, because Nest sets its own only
 * after `onModuleInit`, and a malformed body would be answered outside the envelope.
 */
function serveFiles(fastify: FastifyInstance, { policy, ...options }: Files): void {
  void fastify.register(fastifyStatic, {
    ...options,
    wildcard: false,
    index: false,
    decorateReply: false,
    preCompressed: true,
    setHeaders: (reply) => {
      if (policy !== undefined) reply.header('content-security-policy', policy);
    },
  });
}
