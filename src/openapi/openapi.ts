import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { HttpConfig } from '../platform/config/http-config';
import { loadSwagger, type Swagger } from '../platform/http/api-docs';
import { openApiDocument } from './document/document';
import { ServedDocument } from './document/served-document';

/**
 * Serves `/openapi.json`, and with `API_DOCS=true` the page `/docs`. Both are at the root, where generators look for
 * them, and below `API_PREFIX`, like the routes that they describe. The first request for either makes the document.
 */
export async function serveOpenApi(app: NestFastifyApplication, { apiDocs, apiPrefix }: HttpConfig): Promise<void> {
  let document: OpenAPIObject | undefined;
  const make = (swagger: Swagger) => (document ??= openApiDocument(app, swagger));
  const served = new ServedDocument(async () => make(await loadSwagger()));
  const fastify = app.getHttpAdapter().getInstance();
  for (const prefix of new Set(['', apiPrefix])) {
    fastify.get(`${prefix}/openapi.json`, (request, reply) => served.answer(request, reply));
  }
  if (!apiDocs) return;
  const swagger = await loadSwagger();
  for (const useGlobalPrefix of apiPrefix === '' ? [false] : [false, true]) {
    swagger.SwaggerModule.setup('docs', app, () => make(swagger), {
      raw: false,
      customSiteTitle: 'Portal authentication service',
      useGlobalPrefix,
    });
  }
}
