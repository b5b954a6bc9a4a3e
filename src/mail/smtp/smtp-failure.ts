import { isStoreFailure } from '../../platform/database/store-failure';
import { describeError } from '../../platform/logging/describe-error';
import { DomainError } from '../../shared/errors/domain-error';
import { MailNotReadable } from '../outbox/mail-payload';
import { SmtpProblem } from '../smtp-settings';

/** The recipient is not one plain address. The check comes before any address parser. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * `refused`: this mail is refused permanently. `later`: this mail is refused for now. `server`: the failure is not
 * about this mail and does not count against it (no connection; a wrong certificate, password or sender; unusable
 * settings or keys; no database). `fault`: a bug of this program, which another attempt would meet again.
 */
export type FailureKind = 'refused' | 'later' | 'server' | 'fault';

interface SmtpError {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly originalCode?: unknown;
  readonly responseCode?: unknown;
  readonly command?: unknown;
  readonly permanent?: unknown;
}

export function failureKind(error: unknown): FailureKind {
  if (error instanceof AddressRefused) return 'refused';
  if ([SmtpProblem, DomainError, MailNotReadable].some((kind) => error instanceof kind)) return 'server';
  if (isStoreFailure(error)) return 'server';
  const { name, code, command, permanent } = (error ?? {}) as SmtpError;
  // The errors of an AbortSignal: the time limit of the mail has passed, or this process is stopping.
  if (name === 'AbortError' || name === 'TimeoutError') return typeof code === 'string' ? 'server' : 'later';
  if (typeof code !== 'string' || isWrongCall(name, code)) return 'fault';
  if (code !== 'EENVELOPE' && code !== 'EMESSAGE') return 'server';
  if (command === 'MAIL FROM') return 'server';
  return permanent === true ? 'refused' : 'later';
}

/** Node's codes for wrong arguments. The codes of nodemailer, the network and the file system have no such names. */
function isWrongCall(name: unknown, code: string): boolean {
  return code.startsWith('ERR_') && (name === 'TypeError' || name === 'RangeError');
}

/** The fields for the log and `doctor`. An allow-list: error messages quote the server, and servers quote addresses. */
export function describeFailure(error: unknown): Record<string, string | number> {
  if (error instanceof SmtpProblem) return { problem: error.message };
  const { name, code, originalCode, responseCode, command } = (error ?? {}) as SmtpError;
  const told: [string, unknown][] = [
    ['error', plainWord(name)],
    ['code', plainWord(code)],
    ['reason', plainWord(originalCode)],
    ['command', typeof command === 'string' && /^[A-Z ]{2,16}$/.test(command) ? command : undefined],
    ['reply', typeof responseCode === 'number' ? responseCode : undefined],
    ['stack', failureKind(error) === 'fault' ? describeError(error).stack : undefined],
  ];
  return Object.fromEntries(told.filter(([, value]) => value !== undefined)) as Record<string, string | number>;
}

function plainWord(value: unknown): string | undefined {
  return typeof value === 'string' && /^\w{1,64}$/.test(value) ? value : undefined;
}
