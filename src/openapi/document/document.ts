import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { version } from '../../platform/version';
import { errorSchemas } from './error-schemas';
import { asVersion31 } from './json-schema';
import { nameSchemas } from './named-schemas';
import { recordedExamples } from './recorded-examples';
import { refineOperations } from './refined-operations';
import { tags } from './tags';
import type { Swagger } from '../../platform/http/api-docs';

const bearer = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } as const;

/** No scheme of its own: generators know none of this name, and would send the token in the header of the proof. */
const boundTokens =
  'A token that is bound to a key of the client (RFC 9449) is sent as `Authorization: DPoP …`, with a proof of the key in the header ' +
  '`DPoP`. A request for tokens with such a proof makes bound tokens.';

/** Makes the OpenAPI 3.1 document from the declarations of the routes: `@AnswersTo` and the DTOs. */
export function openApiDocument(app: INestApplication, { DocumentBuilder, SwaggerModule }: Swagger): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Portal authentication service')
    .setDescription(
      'Password and directory login behind a captcha, a second factor, revocable tokens, forgotten and forced password ' +
        'change. Success: `{"status": true, "data": …}`. Failure: `{"error_code", "msg", "data"?}`; clients decide by ' +
        '`error_code`, never by `msg`. An unknown path is COMMON_404001, a wrong method COMMON_405001.',
    )
    .setVersion(version)
    .setLicense('Proprietary', 'https://example.com/license')
    .addServer('/')
    .addBearerAuth({ ...bearer, description: boundTokens }, 'access_token')
    .addBasicAuth({ type: 'http', scheme: 'basic' }, 'service_client')
    .addBearerAuth({ ...bearer, description: boundTokens }, 'refresh_token')
    .build();
  config.tags = [...tags];
  const created = SwaggerModule.createDocument(app, config, { operationIdFactory: (_controller, method) => method });
  const document = asVersion31({
    ...created,
    components: { ...created.components, schemas: { ...created.components?.schemas, ...errorSchemas() } },
  });
  refineOperations(document, recordedExamples());
  nameSchemas(document);
  return document;
}
