import { DomainError } from '../../shared/errors/domain-error';
import { internalError } from '../../shared/errors/error-catalogue';
import { storeCode } from '../database/store-failure';

/**
 * Reduces an error to the fields that may be logged. A query error carries its parameters, and the message of a driver
 * quotes values ("Duplicate entry 'alice'"), so only their code is kept. An error of the catalogue, for example an
 * overload, is expected. The log gets its cause, if any, and no stack, because stacks would fill the log when the
 * service is busiest. Only an unexpected error keeps the frames of its stack.
 */
export function describeError(error: unknown): Record<string, unknown> {
  const refused = error instanceof DomainError && error.entry !== internalError;
  return refused ? describe(error.cause ?? error, false) : describe(error, true);
}

function describe(error: unknown, withStack: boolean): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = storeCode(error);
  return {
    type: error.name,
    ...(code === '' ? { message: error.message.slice(0, 500) } : { code }),
    ...(withStack ? { stack: framesOf(error) } : {}),
    ...(error.cause === undefined ? {} : { cause: describe(error.cause, withStack) }),
  };
}

function framesOf(error: Error): string {
  return (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 12)
    .join('\n');
}
