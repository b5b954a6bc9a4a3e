import { generateKeyPairSync } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import { AppModule } from '../app.module';
import { createAdapter } from '../app.setup';
import { openApiDocument } from './document/document';
import { loadSwagger } from '../platform/http/api-docs';
import { loadConfig } from '../settings/app-config';

/** Nothing is ever signed with it. */
const unusedKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Builds the document without a running service, a database or the settings of this machine. */
export async function wholeDocument(): Promise<OpenAPIObject> {
  const config = loadConfig({
    NODE_ENV: 'test',
    ADMIN_API: 'on',
    OIDC: 'on',
    EVENT_RECEIVERS: 'on',
    OIDC_PRIVATE_KEY: unusedKey(),
    DATABASE_URL: 'sqlite::memory:',
    JWT_SECRET: 'nothing is ever signed with this secret',
    DATA_ENCRYPTION_KEY: Buffer.from('nothing is ever sealed with this').toString('base64'),
  });
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.with(config), createAdapter(), {
    logger: false,
  });
  return openApiDocument(app, await loadSwagger());
}
