import { applyDecorators, SetMetadata, type Type } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
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
import { ApiExtraModels, ApiResponse, schemaPath } from './api-docs';

export const answersKey = 'answers';

/** What any route may answer besides its own codes. */
export const impliedErrors: readonly CatalogueEntry[] = [
  requestInvalid,
  bodyTooLarge,
  mediaTypeUnsupported,
  tooManyRequests,
  internalError,
  serviceUnavailable,
];

/** What a route may answer, declared once: the OpenAPI document is made from it, and tests hold the route to it. */
export interface DeclaredAnswers {
  /** The class of `data` in the success envelope; undefined where the route has a format of its own. */
  readonly success: Type<unknown> | undefined;
  readonly errors: readonly CatalogueEntry[];
}

/** `@Answers(LoginResponse, loginFailed, accountLocked, …)`; the errors that every route may answer are implied. */
export function Answers(success: Type<unknown> | undefined, ...own: CatalogueEntry[]): MethodDecorator {
  const errors = [...own, ...impliedErrors];
  return applyDecorators(
    SetMetadata(answersKey, { success, errors } satisfies DeclaredAnswers),
    ...(success === undefined ? [] : [ApiExtraModels(success), successResponse(success)]),
    ...[...new Set(errors.map((entry) => entry.status))].map((status) => errorResponse(status, errors)),
  );
}

/**
 * The route, or every route of the controller, answers in its own format, without the envelope: the PNG, the captcha
 * challenge, keys, health. Kept with the route, so that a request looks nothing up.
 */
export function OwnFormat(): MethodDecorator & ClassDecorator {
  const mark = RouteConfig({ ownFormat: true });
  return (target: object, _key?: string | symbol, descriptor?: PropertyDescriptor) => {
    if (descriptor !== undefined) return void mark(descriptor.value as () => unknown);
    const methods = Object.getOwnPropertyDescriptors((target as Type<unknown>).prototype) as Record<
      string,
      PropertyDescriptor
    >;
    for (const { value } of Object.values(methods)) if (typeof value === 'function') mark(value as () => unknown);
  };
}

export const isOwnFormat = (request: FastifyRequest): boolean =>
  (request.routeOptions.config as { ownFormat?: boolean }).ownFormat === true;

/** Name of the schema of one failure, discriminated by its `error_code`. */
export const errorSchemaName = (entry: CatalogueEntry): string => `Error_${entry.code}`;

function successResponse(success: Type<unknown>): MethodDecorator {
  return ApiResponse({
    status: 200,
    description: 'Success',
    schema: {
      type: 'object',
      required: ['status', 'data'],
      properties: { status: { type: 'boolean', enum: [true] }, data: { $ref: schemaPath(success) } },
    },
  });
}

function errorResponse(status: number, errors: readonly CatalogueEntry[]): MethodDecorator {
  const entries = [...new Set(errors.filter((entry) => entry.status === status))];
  const references = entries.map((entry) => ({ $ref: `#/components/schemas/${errorSchemaName(entry)}` }));
  return ApiResponse({
    status,
    description: entries.map((entry) => `${entry.code}: ${entry.msg.en}`).join(' '),
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
