import { storeCode } from '../database/store-failure';

/**
 * What a log line says of an error: an allow-list. A query error carries its parameters, and a driver's message quotes
 * values ("Duplicate entry 'alice'"), so for those only the code and the frames of the stack are kept.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = storeCode(error);
  const frames = (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 12)
    .join('\n');
  return {
    type: error.name,
    ...(code === '' ? { message: error.message.slice(0, 500) } : { code }),
    stack: frames,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
