import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { HttpSettings } from '../platform/config/http-settings';
import { loadSwagger } from '../platform/http/api-docs';
import { openApiDocument } from './document/document';
import { ServedDocument } from './document/served-document';

/**
 * Serves `/openapi.json`, and with `API_DOCS=true` the page `/docs`. Both are at the root, where generators look for
 * them, and below `API_PREFIX`, like the routes that they describe. The first request for either makes the document.
 */
export async function serveOpenApi(app: NestFastifyApplication, { apiDocs, apiPrefix }: HttpSettings): Promise<void> {
  // Without the page nothing keeps the document itself: `ServedDocument` holds its bytes.
  const served = new ServedDocument(async () => openApiDocument(app, await loadSwagger()));
  const fastify = app.getHttpAdapter().getInstance();
  for (const prefix of new Set(['', apiPrefix])) {
    fastify.get(`${prefix}/openapi.json`, (request, reply) => served.answer(request, reply));
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
