import type { FastifyReply, FastifyRequest } from 'fastify';
import { asDomainError } from '../../platform/http/error-envelope.filter';
import {
  type CatalogueEntry,
  identityTaken,
  notFoundForCaller,
  requestInvalid,
} from '../../shared/errors/error-catalogue';
import type { DomainError } from '../../shared/errors/domain-error';
import { AccountProblem } from '../../users/account-problem';
import { ScimError, type ScimType } from '../protocol/scim-error';
import { schemas } from '../protocol/schemas';

const scimJson = 'application/scim+json';

/** A client that asks for `application/json` alone gets that type (RFC 7644 §3.1 allows both). */
function typeFor(request: FastifyRequest): string {
  const accept = request.headers.accept ?? '';
  const plain = accept.includes('application/json') && !/scim\+json|\*\/\*|application\/\*/.test(accept);
  return `${plain ? 'application/json' : scimJson}; charset=utf-8`;
}

export function send(request: FastifyRequest, reply: FastifyReply, status: number, body?: unknown): void {
  void reply.code(status);
  if (body === undefined) void reply.send();
  else void reply.type(typeFor(request)).send(JSON.stringify(body));
}

/** Every refusal below `/scim/v2` has the form of SCIM (RFC 7644 §3.12). Nothing of the request is repeated in it. */
export function refuse(request: FastifyRequest, reply: FastifyReply, thrown: unknown): DomainError | undefined {
  if (thrown instanceof ScimError) {
    send(request, reply, thrown.status, errorBody(thrown.status, thrown.detail, thrown.scimType));
    return undefined;
  }
  const error = asDomainError(thrown);
  const { entry, data } = error;
  const waits = entry.status === 429 || entry.status === 503;
  if (waits) void reply.header('retry-after', String(data?.retry_after ?? 2));
  if (entry.status === 413) void reply.header('connection', 'close');
  reply.errorCode = entry.code;
  const status = entry === notFoundForCaller ? 404 : entry.status;
  send(request, reply, status, errorBody(status, detailOf(error), scimTypeOf(error)));
  return error;
}

function errorBody(status: number, detail: string, scimType: ScimType | undefined) {
  return { schemas: [schemas.error], status: String(status), ...(scimType === undefined ? {} : { scimType }), detail };
}

/** The problem of an account says what is wrong in one line; so do the fields of a refused body. */
function detailOf(error: DomainError): string {
  if (error instanceof AccountProblem && error.entry !== notFoundForCaller) return error.message;
  const fields = Object.values(error.data?.fields ?? {}).flat();
  return fields.length > 0 ? fields.join(', ') : error.entry.msg.en;
}

const scimTypes = new Map<CatalogueEntry, ScimType>([
  [identityTaken, 'uniqueness'],
  [requestInvalid, 'invalidSyntax'],
]);

function scimTypeOf(error: DomainError): ScimType | undefined {
  if (error instanceof AccountProblem && error.entry === requestInvalid) return 'invalidValue';
  return scimTypes.get(error.entry);
}
