import type { FastifyReply } from 'fastify';
import type { DomainError, ErrorData } from '../../shared/errors/domain-error';
import { ProofRejected } from '../../shared/errors/proof-rejected';
import type { CatalogueEntry } from '../../shared/errors/error-catalogue';
import { defaultLanguage, type Language } from '../../shared/languages';

declare module 'fastify' {
  interface FastifyReply {
    /** The code of the failure envelope, for the access log and the metrics. */
    errorCode?: string;
    /** Why a part that the service needs did not answer, for the access log. */
    outage?: unknown;
  }
}

/**
 * Headers of every answer. An answer is about the credentials of one person, so no cache may keep it. No browser may
 * guess its type.
 */
export const answerHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

interface ErrorEnvelope {
  readonly error_code: string;
  readonly msg: string;
  readonly data?: ErrorData;
}

export function errorEnvelope(entry: CatalogueEntry, language: Language, data?: ErrorData): ErrorEnvelope {
  return { error_code: entry.code, msg: messageIn(entry.msg, language), ...(data === undefined ? {} : { data }) };
}

/**
 * The messages are in English and Chinese (docs/spec/service.md#7); the pages have texts of their own for each code.
 */
const messageIn = (msg: CatalogueEntry['msg'], language: Language): string =>
  language === 'zh-CN' ? msg['zh-CN'] : msg.en;

/** Each 429 and 503 has the seconds to wait, in the body and as `Retry-After` (RFC 9110 §10.2.3). */
export function sendError(reply: FastifyReply, error: DomainError, language: Language = defaultLanguage): void {
  const { entry } = error;
  const waits = entry.status === 429 || entry.status === 503;
  const data = waits ? { retry_after: 2, ...error.data } : error.data;
  if (waits) reply.header('retry-after', String(data?.retry_after));
  if (error instanceof ProofRejected) reply.header('www-authenticate', error.challenge);
  // The rest of a body that is too large is not read, so the connection cannot be used again.
  if (entry.status === 413) reply.header('connection', 'close');
  reply.errorCode = entry.code;
  reply
    .status(entry.status)
    .type('application/json; charset=utf-8')
    .send(errorEnvelope(entry, language, data));
}
