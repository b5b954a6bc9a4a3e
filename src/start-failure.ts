/** One line on standard error and exit code 1: an address in use, a file that may not be written. */
export function exitWith(error: unknown): never {
  process.stderr.write(`cannot start: ${error instanceof Error ? error.message.split('\n')[0] : 'unknown error'}\n`);
  process.exit(1);
}
