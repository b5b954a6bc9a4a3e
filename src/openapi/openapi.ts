import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { HttpSettings } from '../platform/config/http-settings';
import { loadSwagger } from '../platform/http/api-docs';
import { openApiDocument } from './document/document';
import { ServedDocument } from './document/served-document';
import { asVersion30 } from './document/version-30';

/**
 * Serves `/openapi.json`, the same contract as `/openapi-3.0.json`, and with `API_DOCS=true` the page `/docs`. They are at the
 * root, where generators look for them, and below `API_PREFIX`, like the routes that they describe. The first request for
 * one of them makes its document.
 */
export async function serveOpenApi(app: NestFastifyApplication, { apiDocs, apiPrefix }: HttpSettings): Promise<void> {
  // Without the page nothing keeps the document itself: `ServedDocument` holds its bytes.
  const make = async () => openApiDocument(app, await loadSwagger());
  const documents = {
    'openapi.json': new ServedDocument(make),
    'openapi-3.0.json': new ServedDocument(async () => asVersion30(await make())),
  };
  const fastify = app.getHttpAdapter().getInstance();
  for (const prefix of new Set(['', apiPrefix])) {
    for (const [name, document] of Object.entries(documents)) {
      fastify.get(`${prefix}/${name}`, (request, reply) => document.answer(request, reply));
    }
  }
  if (!apiDocs) return;
  const swagger = await loadSwagger();
  for (const useGlobalPrefix of apiPrefix === '' ? [false] : [false, true]) {
    swagger.SwaggerModule.setup('docs', app, () => openApiDocument(app, swagger), {
      raw: false,
      customSiteTitle: 'Portal authentication service',
      useGlobalPrefix,
    });
  }
}
