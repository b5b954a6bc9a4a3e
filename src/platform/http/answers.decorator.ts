import { applyDecorators, type Type } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import {
  bodyTooLarge,
  type CatalogueEntry,
  internalError,
  mediaTypeUnsupported,
  requestInvalid,
  serviceUnavailable,
  tooManyRequests,
} from '../../shared/errors/error-catalogue';
import { markRoute, marksOf } from './route-marks';
import { ApiExtraModels, ApiResponse, schemaPath } from './api-docs';

/** The errors that every route may answer in addition to its own. */
const impliedErrors: readonly CatalogueEntry[] = [
  requestInvalid,
  bodyTooLarge,
  mediaTypeUnsupported,
  tooManyRequests,
  internalError,
  serviceUnavailable,
];

/**
 * Declares the answers of a route. Controllers use `@AnswersTo`, which adds those of its audience. The errors that every
 * route may answer are implied. The OpenAPI document is made from these declarations, and the tests refuse any other
 * answer.
 * @param success the class of `data` in the success envelope; undefined for a route with its own format
 */
export function Answers(success: Type<unknown> | undefined, ...own: CatalogueEntry[]): MethodDecorator {
  return answers(success, {}, own);
}

export const ndjson = 'application/x-ndjson';
export const csv = 'text/csv';

/**
 * Like Answers, for a list that is also offered as files without an envelope.
 * @param files their types: NDJSON has one item per line
 */
export function AnswersList(
  success: Type<unknown>,
  files: readonly string[],
  ...own: CatalogueEntry[]
): MethodDecorator {
  return answers(success, Object.fromEntries(files.map((type) => [type, { schema: { type: 'string' } }])), own);
}

function answers(success: Type<unknown> | undefined, others: object, own: CatalogueEntry[]): MethodDecorator {
  const errors = [...own, ...impliedErrors];
  return applyDecorators(
    ...(success === undefined ? [] : [ApiExtraModels(success), successResponse(success, others)]),
    ...[...new Set(errors.map((entry) => entry.status))].map((status) => errorResponse(status, errors)),
  );
}

/**
 * Marks a route, or every route of a controller, that answers without the envelope: the PNG, the captcha challenge, the
 * keys, health. The mark is in the configuration of the Fastify route, so a request needs no look-up of metadata.
 */
export function OwnFormat(): MethodDecorator & ClassDecorator {
  const mark = (handler: object) => markRoute(handler, { ownFormat: true });
  return (target: object, _key?: string | symbol, descriptor?: PropertyDescriptor) => {
    if (descriptor !== undefined) return void mark(descriptor.value as object);
    const methods = Object.getOwnPropertyDescriptors((target as Type<unknown>).prototype) as Record<
      string,
      PropertyDescriptor
    >;
    for (const { value } of Object.values(methods)) if (typeof value === 'function') mark(value as object);
  };
}

export const isOwnFormat = (request: FastifyRequest): boolean => marksOf(request).ownFormat === true;

/** The name of the schema of one failure. `error_code` is the discriminator. */
export const errorSchemaName = (entry: CatalogueEntry): string => `Error_${entry.code}`;

function successResponse(success: Type<unknown>, others: object): MethodDecorator {
  const schema = {
    type: 'object',
    required: ['status', 'data'],
    properties: { status: { type: 'boolean', enum: [true] }, data: { $ref: schemaPath(success) } },
  };
  return ApiResponse({
    status: 200,
    description: 'Success',
    content: { 'application/json': { schema }, ...others },
  });
}

function errorResponse(status: number, errors: readonly CatalogueEntry[]): MethodDecorator {
  const entries = [...new Set(errors.filter((entry) => entry.status === status))];
  const meanings = entries.map((entry) => `\`${entry.code}\`: ${entry.msg.en}`);
  const references = entries.map((entry) => ({ $ref: `#/components/schemas/${errorSchemaName(entry)}` }));
  return ApiResponse({
    status,
    description: meanings.length === 1 ? meanings[0] : meanings.map((one) => `- ${one}`).join('\n'),
    content: {
      'application/json': {
        schema:
          references.length === 1
            ? references[0]
            : {
                oneOf: references,
                discriminator: {
                  propertyName: 'error_code',
                  mapping: Object.fromEntries(entries.map((entry, i) => [entry.code, references[i]?.$ref ?? ''])),
                },
              },
      },
    },
  });
}
