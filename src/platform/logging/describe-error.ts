import { DomainError } from '../../shared/errors/domain-error';
import { internalError } from '../../shared/errors/error-catalogue';
import { storeCode } from '../database/store-failure';

/**
 * What a log line says of an error: an allow-list. A query error carries its parameters, and a driver's message quotes
 * values ("Duplicate entry 'alice'"), so for those only the code is kept. A refusal of the catalogue is expected, an
 * overload too, and is told by its reason alone: stacks would fill the log exactly when the service is busiest. A bug
 * keeps the frames of its stack.
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
