import { randomUUID } from 'node:crypto';
import { ModulesContainer } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { LogoutTokens } from './applications/logout-tokens';
import { Lifecycle } from './health/lifecycle';
import { Metrics } from './metrics/metrics';
import { AppConfig } from './settings/app-config';
import { DatabaseWaits } from './platform/database/database-waits';
import { logRequests } from './platform/http/access-log';
import { EventOutbox } from './events/event-outbox';
import { ReceiverDelivery } from './events/receiver-delivery';
import { Directory } from './directory/directory';
import { MailOutbox } from './mail/mail-outbox';
import { OffboardingWorker } from './offboarding/offboarding-worker';
import { ExpiryWarnings } from './password-reset/expiry-warnings';
import { serveOpenApi } from './openapi/openapi';
import { assertAudiences } from './platform/http/audience';
import { acceptBodies } from './platform/http/body-parser';
import { answerClientError, answerFrameworkError } from './platform/http/client-error';
import { clientInfoOf } from './platform/http/client-info.decorator';
import { EnvelopeAdapter } from './platform/http/envelope-adapter';
import { answerHeaders } from './platform/http/error-envelope';
import { ErrorEnvelopeFilter } from './platform/http/error-envelope.filter';
import { refuseMalformedRequests } from './platform/http/malformed-requests';
import { answerOtherMethods } from './platform/http/other-methods';
import { validationPipe } from './platform/http/validation';
import { Tracing } from './platform/tracing/tracing';

/**
 * Sets the limits of the server (docs/spec/decisions.md#1). By default Node looks for overdue requests only every 30 s.
 */
export function createAdapter(): EnvelopeAdapter {
  return new EnvelopeAdapter({
    bodyLimit: 16 * 1024,
    // Longer than the idle time of an ingress (60 s). Otherwise the ingress would send requests on connections that are
    // being closed.
    keepAliveTimeout: 72_000,
    requestTimeout: 15_000,
    http: {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 2000,
      // refuseMalformedRequests checks the Host header.
      requireHostHeader: false,
    },
    // A parameter of a path may be as long as the headers. So a token of any length reaches its route, which answers
    // that it does not know the token.
    routerOptions: { maxParamLength: 16 * 1024, caseSensitive: true },
    frameworkErrors: answerFrameworkError,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: (request: { headers: Record<string, string | string[] | undefined> }) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && /^[\w-]{8,64}$/.test(given) ? given : randomUUID();
    },
    clientErrorHandler: answerClientError,
  });
}

/** The set-up that `main` and the tests share. */
export async function applyAppSetup(app: NestFastifyApplication, logger: Logger): Promise<void> {
  const config = app.get(AppConfig);
  const lifecycle = app.get(Lifecycle);
  const fastify = app.getHttpAdapter().getInstance();
  assertAudiences(app.get(ModulesContainer));

  app.useGlobalPipes(validationPipe());
  app.useGlobalFilters(new ErrorEnvelopeFilter());
  app.setGlobalPrefix(config.http.apiPrefix, {
    exclude: ['health/live', 'health/ready', '.well-known/jwks.json', 'openapi.json', 'openapi-3.0.json', 'docs'],
  });
  fastify.decorateRequest('client');
  fastify.addHook('onRequest', (request, _reply, done) => {
    request.client = clientInfoOf(request, config.http.trustedProxies);
    done();
  });
  // The hook is `onSend`, because the answers to preflights, and to requests from before the draining, need these
  // headers too.
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    const cacheControl = reply.getHeader('cache-control');
    reply.headers(answerHeaders).header('x-request-id', request.id);
    if (cacheControl !== undefined) reply.header('cache-control', cacheControl);
    if (lifecycle.draining) reply.header('connection', 'close');
    done();
  });
  if (config.http.corsOrigins.length > 0) {
    app.enableCors({
      origin: [...config.http.corsOrigins],
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      // The clock of a browser can be wrong, and a proof of possession has the time of the service: `date`.
      exposedHeaders: ['retry-after', 'www-authenticate', 'dpop-nonce', 'date'],
      // Otherwise the plugin answers an OPTIONS request that is not a preflight with a plain text of its own.
      strictPreflight: false,
    });
  }
  if (config.http.corsOrigins.length > 0) allowCookiesOfSignIns(fastify, config.openId !== undefined);
  refuseMalformedRequests(fastify);
  const offered = answerOtherMethods(fastify);
  await serveOpenApi(app, config.http);
  logRequests(fastify, logger);
  await app.get(Metrics).watch(fastify);
  app.get<Tracing | undefined>(Tracing)?.watch(fastify);
  app.get(DatabaseWaits).watch(fastify);
  acceptBodies(fastify);
  await app.init();
  // Plugins load in their order: this one runs when the others have registered the routes of their files.
  void fastify.register((_instance, _options, done) => {
    offered.close();
    done();
  });
  await fastify.ready();
  await app.get(Directory).load();
  app.get(MailOutbox).startSending();
  app.get(EventOutbox).start();
  app.get(ReceiverDelivery).start();
  if (config.openId) app.get(LogoutTokens).start();
  app.get(OffboardingWorker).start();
  app.get(ExpiryWarnings).startWarning();
}

/**
 * Pages of another origin finish a sign-in at an application with the cookie of the interaction, and one at an identity
 * provider, also the try of an administrator, with that of the sign-in. No other route reads or sets a cookie, so no other one
 * allows credentials. The hook comes after those of CORS.
 */
function allowCookiesOfSignIns(fastify: FastifyInstance, hasApplications: boolean): void {
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    const allowed = reply.getHeader('access-control-allow-origin') !== undefined;
    const reads = external.test(request.url) || (hasApplications && interaction.test(request.url));
    if (allowed && reads) reply.header('access-control-allow-credentials', 'true');
    done();
  });
}

/** Of the path alone, with or without `API_PREFIX`. */
const external =
  /^[^?]*\/(login\/external(\/[^/?]+)?|user\/reauthenticate|admin\/identity-providers\/[^/?]+\/test)(\?|$)/;
const interaction = /^[^?]*\/applications\/interactions\/[^/?]+(\?|$)/;
