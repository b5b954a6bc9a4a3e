import { CliProblem } from './cli-context';

export const statusOf = (value: string): number => Number(oneOf('the status', value, ['1', '0', '-1', '-2']));

export function oneOf<T extends string>(what: string, value: string, allowed: readonly T[]): T {
  if (!(allowed as readonly string[]).includes(value))
    throw new CliProblem(`${what} must be one of ${allowed.join(', ')}`);
  return value as T;
}
