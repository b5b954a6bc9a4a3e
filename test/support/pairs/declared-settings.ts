import { loadConfig } from '../../../src/settings/app-config';
import { SettingsProblem } from '../../../src/platform/config/settings-reader';

/** What the code declares about a setting: its choices, a number with its default, or any other text. */
export type Declared =
  | { readonly kind: 'choice'; readonly choices: readonly string[]; readonly byDefault: string }
  | { readonly kind: 'number'; readonly fromZero: boolean; readonly byDefault: string }
  | { readonly kind: 'text' };

/**
 * Every setting, as the code declares it: each one is given a value that none accepts, and the refusal tells its choices.
 * A new setting is therefore in the array of pairs without a line in a test.
 * @param environment switches on what reads further settings, such as a directory
 */
export function declaredSettings(environment: Readonly<Record<string, string>>): Map<string, Declared> {
  const { names, rows } = loadConfig(environment).effective;
  const defaults = new Map(loadConfig(withoutChoices(environment)).effective.rows.map((row) => [row.key, row.value]));
  const byDefault = (name: string) => defaults.get(name) ?? rows.find(({ key }) => key === name)?.value ?? '';
  return new Map([...names].sort().map((name) => [name, declared(name, byDefault(name), environment)]));
}

/** Switches are on in `environment`, which hides their defaults. */
const withoutChoices = (environment: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== 'on'));

function declared(name: string, byDefault: string, environment: Readonly<Record<string, string>>): Declared {
  const refusal = refusals({ ...environment, [name]: '?' }).find((problem) => problem.startsWith(`${name} `));
  const choices = / must be one of (.+)$/.exec(refusal ?? '')?.[1]?.split(', ');
  if (choices !== undefined) return { kind: 'choice', choices, byDefault };
  const from = / must be a whole number from (\d+) /.exec(refusal ?? '')?.[1];
  return from === undefined ? { kind: 'text' } : { kind: 'number', fromZero: from === '0', byDefault };
}

/** The lines that stop the start, or none. */
export function refusals(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsProblem) return error.problems;
    throw error;
  }
}
