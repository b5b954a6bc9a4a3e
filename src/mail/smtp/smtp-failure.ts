import { describeError } from '../../platform/logging/describe-error';
import { DomainError } from '../../shared/errors/domain-error';
import { MailNotReadable } from '../outbox/mail-payload';
import { SmtpProblem } from '../../platform/config/smtp-settings';

/** The recipient's address is not one plain address: it never gets as far as a parser. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * `refused`: this mail, for good. `later`: this mail, for now. `server`: nothing to do with this mail (no connection, a
 * wrong certificate, password or sender, settings or keys that cannot be used), so that it should not suffer for it.
 */
export type FailureKind = 'refused' | 'later' | 'server';

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
  const { code, command, permanent } = error as SmtpError;
  if (code !== 'EENVELOPE' && code !== 'EMESSAGE') return typeof code === 'string' ? 'server' : 'later';
  if (command === 'MAIL FROM') return 'server';
  return permanent === true ? 'refused' : 'later';
}

/** What a log or `doctor` says of it: an allow-list, because messages quote the server, and servers quote addresses. */
export function describeFailure(error: unknown): Record<string, string | number> {
  if (error instanceof SmtpProblem) return { problem: error.message };
  const { name, code, originalCode, responseCode, command } = error as SmtpError;
  const told: [string, unknown][] = [
    ['error', plainWord(name)],
    ['code', plainWord(code)],
    ['reason', plainWord(originalCode)],
    ['command', typeof command === 'string' && /^[A-Z ]{2,16}$/.test(command) ? command : undefined],
    ['reply', typeof responseCode === 'number' ? responseCode : undefined],
    // No error of the server's or of ours: then it is a bug, and this is where.
    ['stack', typeof code !== 'string' && error instanceof Error ? describeError(error).stack : undefined],
  ];
  return Object.fromEntries(told.filter(([, value]) => value !== undefined)) as Record<string, string | number>;
}

function plainWord(value: unknown): string | undefined {
  return typeof value === 'string' && /^\w{1,64}$/.test(value) ? value : undefined;
}
