import { readFileSync } from 'node:fs';
import { meantSetting } from './did-you-mean';
import { effectiveSetting, type EffectiveSettings } from './effective-settings';
import { meantOpenTelemetryName } from './opentelemetry-names';
import { settingElsewhere } from './settings-elsewhere';
import { urlOf } from '../../shared/url-text';

/** All problems of the settings, one for each key. A problem never contains the value, because it may be a secret. */
export class SettingsProblem extends Error {
  override readonly name = 'SettingsProblem';

  constructor(readonly problems: readonly string[]) {
    super(problems.join('; '));
  }
}

/**
 * Typed access to the environment (docs/spec/decisions.md#8). An empty value counts as not set. `NAME_FILE` names a
 * file with the value. Problems are collected and reported together. A setting has one source.
 */
export class SettingsReader {
  private readonly problems = new Set<string>();
  private readonly known = new Set<string>();
  private readonly fallbacks = new Map<string, string>();

  constructor(private readonly environment: Readonly<Record<string, string | undefined>>) {}

  problem(key: string, what: string): void {
    this.problems.add(`${key} ${what}`);
  }

  /** @throws SettingsProblem that names each key that is missing or wrong */
  assertNoProblems(): void {
    if (this.problems.size > 0) throw new SettingsProblem([...this.problems]);
  }

  /** Declares settings that exist but are not always read, because that depends on another setting. */
  mention(...keys: readonly string[]): void {
    for (const key of keys) this.known.add(key);
  }

  /**
   * Refuses names that are similar to a setting but are not settings (docs/spec/extensions.md#strict-settings). If
   * `MFA_REQUIERD=true` was ignored, the second factor would be off while the operator believes it is on. Call it after
   * all settings were read or mentioned.
   */
  refuseMisspeltNames(): void {
    const isSet = (key: string) => this.sourceOf(key) !== undefined;
    for (const [name, value = ''] of Object.entries(this.environment)) {
      if (value === '' || this.known.has(name) || this.known.has(name.replace(/_FILE$/, ''))) continue;
      const meant = meantSetting(name, value, this.known) ?? settingElsewhere(name, value, isSet);
      if (meant !== undefined) this.problem(name, `is not a setting, DID_YOU_MEAN ${meant}`);
    }
  }

  /**
   * Refuses a setting with a value and a file, because an operator who changes the one would see no effect while the other
   * one counts. Call it after all settings were read or mentioned.
   */
  refuseTwoSources(): void {
    for (const key of this.known) {
      if (this.isSet(key) && this.isSet(`${key}_FILE`)) this.twoSources(key, `${key}_FILE`);
    }
  }

  /** Refuses two names of one setting, if both are set. */
  refuseTwoNames(one: string, other: string): void {
    const [first, second] = [this.sourceOf(one), this.sourceOf(other)];
    if (first !== undefined && second !== undefined) this.twoSources(first, second);
  }

  /** The value of a setting, or the content of the file that `NAME_FILE` names. */
  optional(key: string): string | undefined {
    this.mention(key);
    if (this.isSet(key)) return this.environment[key];
    const file = this.environment[`${key}_FILE`];
    if (file === undefined || file === '') return undefined;
    try {
      return textOfFile(file);
    } catch {
      this.problem(`${key}_FILE`, 'names a file that cannot be read: check its path and its permissions');
      return undefined;
    }
  }

  /** The file that holds the value of a setting. Undefined when the value is in the environment itself. */
  fileOf(key: string): string | undefined {
    return this.environment[key] ? undefined : this.environment[`${key}_FILE`] || undefined;
  }

  /**
   * Where each setting comes from, without the secrets. Call it after all settings were read or mentioned. A setting of a captcha
   * provider that is not in use is left out.
   */
  effective(): EffectiveSettings {
    const names = [...this.known]
      .sort()
      .filter((key) => this.sourceOf(key) || !/^CAPTCHA_\w+CAPTCHA_|_TURNSTILE_/.test(key));
    const rows = names.map((key) => {
      const name = this.sourceOf(key);
      const source = name === undefined ? 'default' : name === key ? 'environment' : 'file';
      return effectiveSetting(
        key,
        source,
        name === undefined ? undefined : this.optional(key),
        this.fallbacks.get(key),
      );
    });
    return { rows, names: new Set(this.known), doubts: this.doubts() };
  }

  text(key: string, fallback: string): string {
    this.fallbacks.set(key, fallback);
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

  /** A whole number within bounds. The default minimum is 1. */
  count(key: string, fallback: number, { min = 1, max = 2_147_483_647 } = {}): number {
    this.fallbacks.set(key, String(fallback));
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
    if (fallback !== undefined) this.fallbacks.set(key, fallback);
    if (value === undefined) {
      this.problem(key, 'is required in production');
      return '';
    }
    // `new URL` drops white space, but the text that this method returns still has it and is put into links.
    const parsed = /\s/.test(value) ? undefined : urlOf(value);
    if (parsed === undefined || !protocols.includes(parsed.protocol)) {
      this.problem(key, `must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
      return '';
    }
    return value.replace(/\/+$/, '');
  }

  private doubts(): string[] {
    return Object.keys(this.environment).flatMap((name) => {
      const meant = this.isSet(name) ? meantOpenTelemetryName(name) : undefined;
      return meant === undefined ? [] : [`${name} has no effect, DID_YOU_MEAN ${meant}`];
    });
  }

  private twoSources(one: string, other: string): void {
    this.problem(one, `and ${other} are both set: remove one of them`);
  }

  /** The variable that sets it. */
  private sourceOf(key: string): string | undefined {
    return [key, `${key}_FILE`].find((name) => this.isSet(name));
  }

  private isSet(name: string): boolean {
    return (this.environment[name] ?? '') !== '';
  }
}

/** @throws when the file cannot be read */
export function textOfFile(path: string): string | undefined {
  return readFileSync(path, 'utf8').replace(/\r?\n$/, '') || undefined;
}
