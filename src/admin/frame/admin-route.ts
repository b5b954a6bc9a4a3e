import { applyDecorators, Delete, Get, HttpCode, Patch, Post, Put, type Type, UseGuards } from '@nestjs/common';
import { Answers, AnswersList } from '../../platform/http/answers.decorator';
import { ApiBearerAuth } from '../../platform/http/api-docs';
import {
  accessTokenExpired,
  accessTokenInvalid,
  accessTokenRevoked,
  type CatalogueEntry,
  freshLoginRequired,
  notPermitted,
} from '../../shared/errors/error-catalogue';
import { AccessTokenGuard } from '../../tokens/tokens.guard';
import { YoungSessionGuard } from '../../tokens/young-session.guard';
import { AdminGuard } from './admin.guard';
import { declare } from './declared-routes';
import type { AdminPermission } from './permissions';

const methods = { POST: Post, PUT: Put, PATCH: Patch, DELETE: Delete } as const;
const refusals = [accessTokenInvalid, accessTokenExpired, accessTokenRevoked, notPermitted] as const;

/**
 * A route of the administration that changes nothing.
 * @param answer the class of `data`
 * @param errors further errors of the route; those of the guards are implied
 */
export function AdminGet(
  path: string,
  permission: AdminPermission,
  answer: Type<unknown>,
  ...errors: CatalogueEntry[]
): MethodDecorator {
  return applyDecorators(reading(path, permission), Answers(answer, ...refusals, ...errors));
}

/** Like AdminGet, for a list that is paged, or streamed with `Accept: application/x-ndjson` (see `listed`). */
export function AdminList(
  path: string,
  permission: AdminPermission,
  answer: Type<unknown>,
  ...errors: CatalogueEntry[]
): MethodDecorator {
  return applyDecorators(reading(path, permission), AnswersList(answer, ...refusals, ...errors));
}

/** A route that changes something. It needs a young session. */
export function AdminChange(
  method: keyof typeof methods,
  path: string,
  permission: AdminPermission,
  answer: Type<unknown>,
  ...errors: CatalogueEntry[]
): MethodDecorator {
  return applyDecorators(
    methods[method](path),
    HttpCode(200),
    declaredAs(permission),
    UseGuards(AccessTokenGuard, AdminGuard, YoungSessionGuard),
    ApiBearerAuth('access_token'),
    Answers(answer, ...refusals, freshLoginRequired, ...errors),
  );
}

function reading(path: string, permission: AdminPermission): MethodDecorator {
  return applyDecorators(
    Get(path),
    declaredAs(permission),
    UseGuards(AccessTokenGuard, AdminGuard),
    ApiBearerAuth('access_token'),
  );
}

function declaredAs(permission: AdminPermission): MethodDecorator {
  return (_prototype, _name, descriptor) => declare(descriptor.value as object, permission);
}
