import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { ApplicationAdministration } from '../admin/application-administration';
import { operatorAuthority } from '../admin/authority';
import { OpenIdSettings } from '../applications/openid-settings';
import { ServiceSettings } from '../platform/config/service-settings';
import { programFolder } from '../platform/version';

const path = '/demo/application/';
const files: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
};
const name = 'Demo application';

/** Where browsers open the page. */
export function demoApplicationUrl(systemUrl: string): string {
  const url = new URL(systemUrl);
  // Another origin than that of the portal, as with every application.
  if (url.hostname === 'localhost') url.hostname = '127.0.0.1';
  return `${url.origin}${path}`;
}

/** An application of the demo: the page of `examples/openid-page`, registered as a public client. */
@Injectable()
export class DemoApplication implements OnModuleInit {
  private readonly logger = new Logger('demo');
  private id: string | undefined;

  constructor(
    private readonly administration: ApplicationAdministration,
    private readonly host: HttpAdapterHost,
    private readonly service: ServiceSettings,
    private readonly settings: OpenIdSettings,
  ) {}

  onModuleInit(): void {
    const { openId } = this.settings;
    const folder = join(programFolder, 'examples/openid-page');
    if (openId === undefined || !existsSync(folder)) return;
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    const policy = `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ${new URL(openId.issuer).origin}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
    for (const [file, type] of Object.entries(files)) {
      const content = readFileSync(join(folder, file));
      fastify.get(`${path}${file === 'index.html' ? '' : file}`, (_request, reply) =>
        reply.header('content-security-policy', policy).type(type).send(content),
      );
    }
    fastify.get(`${path}config.json`, (_request, reply) => reply.send({ issuer: openId.issuer, client_id: this.id }));
  }

  /** Registers the page, or gives it the address of this start. The demo starts without it as well. */
  async register(): Promise<void> {
    if (this.settings.openId === undefined) return;
    const url = demoApplicationUrl(this.service.systemUrl);
    const fields = { name, redirect_uris: [url], post_logout_redirect_uris: [url], uri: url };
    try {
      const known = (await this.administration.list()).find((one) => one.name === name && one.type === 'spa');
      if (known === undefined) {
        this.id = (await this.administration.create(operatorAuthority, 'spa', fields)).application.id;
        return;
      }
      this.id = known.id;
      if (known.uri !== url) await this.administration.change(operatorAuthority, known.id, fields);
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'the demo application could not be registered');
    }
  }
}
