import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fastifyStatic from '@fastify/static';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { AppConfig } from '../platform/config/app-config';
import { outboxPath } from './demo-outbox.controller';

/** The paths of the pages (portal/src/paths.ts). None is a path of the service, so no answer of the service changes. */
const pagePaths = [
  '/',
  '/code',
  '/forgot-password',
  '/reset-password',
  '/account',
  '/account/authenticator',
  '/outbox',
];

/** Allows files of this origin only, nothing inline, no frames, no form submits. `blob:` is for the QR code. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves the built web pages from the same port as the service. For the demo only. */
@Injectable()
export class PortalPages implements OnModuleInit {
  private readonly logger = new Logger('portal');

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly config: AppConfig,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.config.production) throw new Error('the demo pages are not for production: start dist/src/main.js');
    const folder = resolve('portal/dist');
    if (!existsSync(join(folder, 'index.html'))) {
      this.logger.warn('the web pages are not built, so they are not served: run npm run build:portal');
      return;
    }
    await this.serve(this.host.httpAdapter.getInstance<FastifyInstance>(), folder);
  }

  private async serve(fastify: FastifyInstance, folder: string): Promise<void> {
    const page = this.introduced(readFileSync(join(folder, 'index.html'), 'utf8'));
    const show = (_request: unknown, reply: FastifyReply) =>
      reply
        .headers({ 'content-security-policy': policy, 'cross-origin-opener-policy': 'same-origin' })
        .type('text/html; charset=utf-8')
        .send(page);
    for (const path of pagePaths) fastify.get(path, show);
    // A person who mistypes a path gets the page that says so. Other clients keep the answer in JSON.
    fastify.addHook('onRequest', (request, reply, done) => {
      if (request.is404 && request.method === 'GET' && /\btext\/html\b/.test(request.headers.accept ?? ''))
        void show(request, reply.status(404));
      else done();
    });

    await fastify.register(async (scope) => {
      // Runs after the hook of the service that forbids caching. These file names change with their content.
      scope.addHook('onSend', (_request, reply, _payload, done) => {
        if (reply.statusCode < 400) reply.header('cache-control', 'public, max-age=31536000, immutable');
        done();
      });
      const root = join(folder, 'assets');
      await scope.register(fastifyStatic, {
        root,
        prefix: '/assets/',
        wildcard: false,
        index: false,
        cacheControl: false,
      });
    });
    const icon = readFileSync(join(folder, 'favicon.svg'));
    fastify.get('/favicon.svg', (_request, reply) => reply.type('image/svg+xml').send(icon));
  }

  /** Fills in the meta tags that tell the pages the path prefix of the service, its accounts and the path of the outbox. */
  private introduced(page: string): string {
    const prefix = this.config.http.apiPrefix;
    return page
      .replace(/(<meta name="portal:service" content=)"[^"]*"/, `$1"${prefix}"`)
      .replace(/(<meta name="portal:providers" content=)"[^"]*"/, `$1"password${this.config.ldap ? ' ldap' : ''}"`)
      .replace(/(<meta name="portal:outbox" content=)"[^"]*"/, `$1"${prefix}/${outboxPath}"`);
  }
}
