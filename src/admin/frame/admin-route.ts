import { applyDecorators, Delete, Get, HttpCode, Patch, Post, Put, type Type } from '@nestjs/common';
import { AnswersList, csv, ndjson } from '../../platform/http/answers.decorator';
import { ApiParam, ApiResponse } from '../../platform/http/api-docs';
import { Admits, AnswersTo, type Audience } from '../../platform/http/audience';
import { type CatalogueEntry, youngSessionRequired, notPermitted } from '../../shared/errors/error-catalogue';
import { accessToken } from '../../sessions/audiences';
import { YoungSessionGuard } from '../../sessions/young-session.guard';
import { AdminGuard } from './admin.guard';
import { declare } from './declared-routes';
import { ExportGuard } from './exports';
import type { AdminPermission } from './permissions';

const methods = { POST: Post, PUT: Put, PATCH: Patch, DELETE: Delete } as const;
/** The parameters of the paths, for the OpenAPI document. */
const parameters: Readonly<Record<string, string>> = {
  'users/:uid': 'The `uid` of the user.',
  'users/:uid/passkeys/:id': 'The `id` of GET /admin/users/{uid}/passkeys.',
  'users/:uid/sessions/:sid': 'The `sid` of GET /admin/users/{uid}/sessions.',
  'users/:uid/devices/:id': 'The `id` of GET /admin/users/{uid}/devices.',
  'config/:group': 'The group of the setting, as GET /admin/config lists it.',
  'config/:group/:key': 'The key of the setting within its group.',
  'mails/:id': 'The `id` of GET /admin/mails.',
  'events/:id': 'The `id` of GET /admin/events.',
  'event-receivers/:id': 'The `id` of GET /admin/event-receivers.',
  'tenants/:id': 'The `id` of GET /admin/tenants.',
  'brand/:tenant_id': 'The `id` of GET /admin/tenants.',
  'org-units/:id': 'The `id` of GET /admin/org-units.',
  'groups/:id': 'The `id` of GET /admin/groups.',
  'groups/:id/members/:uid': 'The `uid` of the user.',
  'applications/:id': 'The `id` of GET /admin/applications.',
  'identity-providers/:id': 'The `id` of GET /admin/identity-providers.',
};

/** Administrators whose tenant has the permission of the route, and holders of a role by `AlsoFor`. */
const administrator: Audience = {
  guards: [...accessToken.guards, AdminGuard],
  security: accessToken.security,
  refusals: [...accessToken.refusals, notPermitted],
};
/** Administrators in a young session, for changes. */
const administratorOfYoungSession: Audience = {
  ...administrator,
  guards: [...administrator.guards, YoungSessionGuard],
  refusals: [...administrator.refusals, youngSessionRequired],
};
/** Administrators, in a young session when they ask for an export. */
const exporter: Audience = {
  ...administratorOfYoungSession,
  guards: [...administrator.guards, ExportGuard],
};

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
  return applyDecorators(reading(path, permission), AnswersTo(administrator, answer, ...errors));
}

/** Like AdminGet, for a list that is paged, or exported with `Accept: application/x-ndjson` (see `Exports`). */
export function AdminList(
  path: string,
  permission: AdminPermission,
  answer: Type<unknown>,
  ...errors: CatalogueEntry[]
): MethodDecorator {
  return list(path, permission, answer, [ndjson], errors);
}

/** Like AdminList, for a log. `format=csv` exports it for a spreadsheet. */
export function AdminLog(path: string, answer: Type<unknown>): MethodDecorator {
  return list(path, 'logs.read', answer, [ndjson, csv], []);
}

function list(
  path: string,
  permission: AdminPermission,
  answer: Type<unknown>,
  files: readonly string[],
  errors: readonly CatalogueEntry[],
): MethodDecorator {
  return applyDecorators(
    reading(path, permission),
    Admits(exporter),
    AnswersList(answer, files, ...exporter.refusals, ...errors),
  );
}

/** A route whose answer is a JSON file without an envelope, which is made while the client reads. It needs a young session. */
export function AdminFile(path: string, permission: AdminPermission, ...errors: CatalogueEntry[]): MethodDecorator {
  const schema = { type: 'object', additionalProperties: true } as const;
  return applyDecorators(
    reading(path, permission),
    AnswersTo(administratorOfYoungSession, undefined, ...errors),
    ApiResponse({ status: 200, description: 'Success', content: { 'application/json': { schema } } }),
  );
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
    ...parametersOf(path),
    declaredAs(permission),
    AnswersTo(administratorOfYoungSession, answer, ...errors),
  );
}

function reading(path: string, permission: AdminPermission): MethodDecorator {
  return applyDecorators(Get(path), ...parametersOf(path), declaredAs(permission));
}

/** Describes each part of the path that begins with a colon. */
const parametersOf = (path: string): MethodDecorator[] =>
  [...path.matchAll(/:(\w+)/g)].map(({ 0: part, 1: name = '', index }) =>
    ApiParam({ name, description: parameters[path.slice(0, index + part.length)], schema: { type: 'string' } }),
  );

function declaredAs(permission: AdminPermission): MethodDecorator {
  return (_prototype, _name, descriptor) => declare(descriptor.value as object, permission);
}
