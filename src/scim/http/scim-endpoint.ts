import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { ServiceClients } from '../../introspection/service-client.repository';
import { HttpSettings } from '../../platform/config/http-settings';
import { assertPlainUtf8, parsedJson } from '../../platform/http/body-parser';
import { AddressLimit } from '../../platform/limits/address-limit';
import { internalError } from '../../shared/errors/error-catalogue';
import { ProvisioningCounts } from '../../users/provisioning-counts';
import { type Caller, callerOf } from '../protocol/caller';
import { scimPath } from '../protocol/resource-urls';
import { ScimError } from '../protocol/scim-error';
import { refuse } from './answers';
import { type Handler, ScimRoutes } from './scim-routes';

const largestBody = 1024 * 1024;
const methods: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * The paths below `/scim/v2`. Their bodies and errors are those of SCIM, not the envelope. Limits, request ids, the access log and
 * the metrics are those of every route.
 */
@Injectable()
export class ScimEndpoint implements OnModuleInit {
  private readonly logger = new Logger('scim');

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly settings: HttpSettings,
    private readonly routes: ScimRoutes,
    private readonly clients: ServiceClients,
    private readonly limit: AddressLimit,
    private readonly counts: ProvisioningCounts,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    const prefix = `${this.settings.apiPrefix}${scimPath}`;
    void fastify.register(
      (scope, _options, done) => {
        acceptScim(scope);
        scope.setErrorHandler((error, request, reply) => this.refuse(request, reply, error));
        scope.addHook('onRequest', (request) => this.admit(request));
        scope.addHook('onResponse', (request, reply, counted) => {
          const [resource] = (request.routeOptions.url ?? '').slice(prefix.length + 1).split('/');
          this.counts.add(request.method, resource, reply.statusCode);
          counted();
        });
        this.addRoutes(scope);
        done();
      },
      { prefix },
    );
  }

  private addRoutes(scope: FastifyInstance): void {
    for (const [url, handlers] of this.routes.all) {
      for (const [method, handler] of Object.entries(handlers)) {
        scope.route({
          ...{ method: method, url, bodyLimit: largestBody, config: { cors: false } },
          handler: (request, reply) => this.answer(handler, request, reply),
        });
      }
      const known = Object.keys(handlers).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
      refuseAlways(
        scope,
        url,
        methods.filter((method) => !known.includes(method)),
        (reply) => {
          void reply.header('allow', known.join(', '));
          return new ScimError(405, undefined, 'the resource has no such method');
        },
      );
    }
    for (const url of ['/', '/*']) {
      refuseAlways(scope, url, methods, () => new ScimError(404, undefined, 'there is no such resource'));
    }
  }

  /**
   * Before the body is read: a request without a token costs no more than a look-up by a key. The limits are those of services,
   * which ask for all of their users from a few addresses.
   */
  private async admit(request: FastifyRequest): Promise<void> {
    const token = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    await this.limit.count(token === undefined ? 'other' : 'introspection', request.client.ip);
    const client = token === undefined ? undefined : await this.clients.scimClient(token);
    if (client === undefined) throw new ScimError(401, undefined, 'a bearer token of a SCIM client is needed');
    request.scim = callerOf(client, request.client);
  }

  private async answer(handler: Handler, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    await handler(request, reply, request.scim!);
    return reply;
  }

  private refuse(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
    if (thrown instanceof ScimError && thrown.status === 401) void reply.header('www-authenticate', 'Bearer');
    const error = refuse(request, reply, thrown);
    if (error === undefined) return;
    if (error.entry === internalError) {
      this.logger.error({ requestId: request.id, err: error.cause ?? error }, error.entry.code);
    } else if (error.entry.status >= 500) {
      reply.outage = error;
    }
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    scim?: Caller;
  }
}

/** `application/scim+json` and `application/json`, in UTF-8 (RFC 7644 §3.1). */
function acceptScim(scope: FastifyInstance): void {
  scope.decorateRequest('scim');
  scope.removeAllContentTypeParsers();
  for (const mediaType of ['application/scim+json', 'application/json']) {
    scope.addContentTypeParser(mediaType, { parseAs: 'buffer', bodyLimit: largestBody }, (request, body, done) => {
      try {
        assertPlainUtf8(request);
        done(null, body.length === 0 ? undefined : parsedJson(body as Buffer));
      } catch (error) {
        done(error as Error);
      }
    });
  }
}

/** Refuses after the token was checked, and before the body is read. */
function refuseAlways(
  scope: FastifyInstance,
  url: string,
  refused: HTTPMethods[],
  reason: (reply: FastifyReply) => ScimError,
): void {
  scope.route({
    ...{ method: refused, url, config: { cors: false }, exposeHeadRoute: false },
    onRequest: (_request, reply, done) => done(reason(reply)),
    handler: () => undefined,
  });
}
