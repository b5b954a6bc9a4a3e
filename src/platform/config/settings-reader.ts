import { readFileSync } from 'node:fs';
import { meantSetting } from './did-you-mean';

/** All that is wrong with the settings, one line per key; a value is never in it (it may be a secret). */
export class SettingsProblem extends Error {
  override readonly name = 'SettingsProblem';

  constructor(readonly problems: readonly string[]) {
    super(problems.join('; '));
  }
}

/**
 * Typed access to the environment. An empty value counts as not set, `NAME_FILE` names a file that holds the value, and
 * problems are collected so that they are reported together (§8 of decisions.md).
 */
export class SettingsReader {
  private readonly problems = new Set<string>();
  private readonly known = new Set<string>();

  constructor(private readonly environment: Readonly<Record<string, string | undefined>>) {}

  problem(key: string, what: string): void {
    this.problems.add(`${key} ${what}`);
  }

  /** @throws SettingsProblem naming every key that is missing or wrong. */
  assertNoProblems(): void {
    if (this.problems.size > 0) throw new SettingsProblem([...this.problems]);
  }

  /** Settings that exist, also when another setting decides that they are not read. */
  mention(...keys: readonly string[]): void {
    for (const key of keys) this.known.add(key);
  }

  /**
   * Every setting has been read or mentioned: a name that looks like one of them and is none is a mistake. Ignored, it would
   * leave off what somebody believes to be on (`MFA_REQUIERD=true`).
   */
  refuseMisspeltNames(): void {
    for (const [name, value = ''] of Object.entries(this.environment)) {
      const isOurs = this.known.has(name) || this.known.has(name.replace(/_FILE$/, ''));
      const meant = isOurs || value === '' ? undefined : meantSetting(name, value, this.known);
      if (meant !== undefined) this.problem(name, `is not a setting, DID_YOU_MEAN ${meant}`);
    }
  }

  /** The text of a setting, or of the file that `NAME_FILE` names. */
  optional(key: string): string | undefined {
    this.mention(key);
    const value = this.environment[key];
    if (value !== undefined && value !== '') return value;
    const file = this.environment[`${key}_FILE`];
    if (file === undefined || file === '') return undefined;
    try {
      return readFileSync(file, 'utf8').replace(/\r?\n$/, '') || undefined;
    } catch {
      this.problem(`${key}_FILE`, 'names a file that cannot be read');
      return undefined;
    }
  }

  text(key: string, fallback: string): string {
    return this.optional(key) ?? fallback;
  }

  choice<T extends string>(key: string, allowed: readonly T[], fallback: T): T {
    const value = this.text(key, fallback);
    if ((allowed as readonly string[]).includes(value)) return value as T;
    this.problem(key, `must be one of ${allowed.join(', ')}`);
    return fallback;
  }

  flag(key: string, fallback: boolean): boolean {
    return this.choice(key, ['true', 'false'], fallback ? 'true' : 'false') === 'true';
  }

  /** A whole number within bounds; durations and counts start at 1 unless said otherwise. */
  count(key: string, fallback: number, { min = 1, max = 2_147_483_647 } = {}): number {
    const value = this.optional(key);
    if (value === undefined) return fallback;
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= min && number <= max) return number;
    this.problem(key, `must be a whole number from ${min} to ${max}`);
    return fallback;
  }

  list(key: string): string[] {
    return this.text(key, '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }

  /** An absolute URL without a trailing slash. */
  url(key: string, protocols: readonly string[], fallback?: string): string {
    const value = this.optional(key) ?? fallback;
    if (value === undefined) {
      this.problem(key, 'is not set');
      return '';
    }
    // A parser trims and drops white space; what is kept and put into links is the text itself.
    const parsed = URL.canParse(value) && !/\s/.test(value) ? new URL(value) : undefined;
    if (parsed === undefined || !protocols.includes(parsed.protocol)) {
      this.problem(key, `must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
      return '';
    }
    return value.replace(/\/+$/, '');
  }
}
