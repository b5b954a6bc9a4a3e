import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fastifyStatic from '@fastify/static';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { AppConfig } from '../platform/config/app-config';
import { outboxPath } from './demo-outbox.controller';

/** The pages' own addresses (portal/src/paths.ts); none is a path of the service, whose answers stay what they are. */
const pagePaths = [
  '/',
  '/code',
  '/forgot-password',
  '/reset-password',
  '/account',
  '/account/authenticator',
  '/outbox',
];

/** Files of this origin only, nothing inline, no frames; the QR code is a blob, and forms are never sent by the browser itself. */
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

/** Serves the built web pages beside the service, so that a newcomer has something to click; in the demo only. */
@Injectable()
export class PortalPages implements OnModuleInit {
  private readonly logger = new Logger('portal');

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly config: AppConfig,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.config.production) throw new Error('the pages of the demo are not for production');
    const folder = resolve('portal/dist');
    if (!existsSync(join(folder, 'index.html'))) {
      this.logger.warn('the pages are not built: npm run build:portal');
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

    await fastify.register(async (scope) => {
      // After the service's own hook, which lets nothing be kept; the names of these files change with their content.
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

  /** Tells the pages where the service is, and that there is an outbox to look into. */
  private introduced(page: string): string {
    const prefix = this.config.http.apiPrefix;
    return page
      .replace(/(<meta name="portal:service" content=)"[^"]*"/, `$1"${prefix}"`)
      .replace(/(<meta name="portal:outbox" content=)"[^"]*"/, `$1"${prefix}/${outboxPath}"`);
  }
}
