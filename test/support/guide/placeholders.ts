import { isDeepStrictEqual } from 'node:util';
import { kindOf } from './guide-page';

const jwt = /[\w-]+\.[\w-]+\.[\w-]+/;
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/;
const opaque = /[\w-]{43}/;
const base64url = /[\w-]+/;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;

/** What each placeholder stands for. The page explains the same names. */
const patterns: Readonly<Record<string, RegExp>> = {
  access_token: jwt,
  refresh_token: jwt,
  captcha_token: /[\w+/=.-]+/,
  captcha_pass: /[\w+/=.-]+/,
  mfa_token: opaque,
  device_token: opaque,
  uid: uuid,
  id: uuid,
  sid: uuid,
  jti: uuid,
  grant_id: /[0-9a-f]{64}/,
  challenge_id: uuid,
  change_uid: uuid,
  link_uid: uuid,
  otp: /\d{6}/,
  totp: /\d{6}/,
  secret: /[A-Z2-7]{32}/,
  recovery_code: /[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}/,
  client_credentials: /[\w+/]+=*/,
  challenge: base64url,
  user_handle: base64url,
  credential_id: base64url,
  client_data: base64url,
  attestation_object: base64url,
  authenticator_data: base64url,
  signature: base64url,
  now: time,
  in: time,
  time,
  epoch: /\d{10}/,
  hex: /[0-9a-f]+/,
  png: /\x89PNG\r\n\x1a\n[\s\S]*/,
};

export const knownPlaceholders = Object.keys(patterns);

/** These stand for another value each time. Every other placeholder keeps its value within a flow. */
const unbound = new Set(['now', 'in', 'time', 'epoch', 'hex', 'png']);

const milliseconds: Readonly<Record<string, number>> = { second: 1e3, minute: 6e4, hour: 36e5, day: 864e5 };
/** A regular expression of exactly this text. */
const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
const marked = /\{(\w+(?: \d+ \w+)?)\}/g;

/** The values of the placeholders in one flow. */
export class Placeholders {
  private readonly values = new Map<string, string>();

  constructor(private readonly now: () => Date) {}

  set(name: string, value: string): void {
    if (!(kindOf(name) in patterns)) throw new Error(`{${name}} is not a placeholder of the page`);
    this.values.set(name, value);
  }

  get(name: string): string | undefined {
    return this.values.get(name);
  }

  /** @throws Error naming a placeholder that has no value yet */
  fill(text: string): string {
    return text.replace(marked, (_mark, name: string) => {
      const value = this.values.get(name);
      if (value === undefined) throw new Error(`nothing before this request gives {${name}} a value`);
      return value;
    });
  }

  /** Compares a text, and keeps the values of placeholders that have none yet. */
  matches(expected: string, actual: string): boolean {
    const names: string[] = [];
    const source = expected
      .split(marked)
      .map((part, index) => (index % 2 === 0 ? literally(part) : this.sourceOf(part, names)))
      .join('');
    const found = new RegExp(`^${source}$`).exec(actual);
    if (found === null) return false;
    names.forEach((name, index) => this.values.set(name, found[index + 1]!));
    return true;
  }

  /**
   * Compares a JSON body with the one of the page, in which a placeholder without quotes stands for a number.
   * @returns the first difference, or undefined
   */
  difference(expected: string, actual: unknown): string | undefined {
    const quoted = expected.replace(/(:\s*)(\{\w+\})/g, '$1"$2#"');
    return this.compare(JSON.parse(quoted), actual, 'body');
  }

  private compare(expected: unknown, actual: unknown, path: string): string | undefined {
    if (typeof expected === 'string') {
      const numeric = /^\{\w+\}#$/.test(expected);
      if (numeric ? typeof actual !== 'number' : typeof actual !== 'string') return `${path} has another type`;
      const text = numeric ? expected.slice(0, -1) : expected;
      return this.matches(text, String(actual)) ? undefined : `${path} is ${JSON.stringify(actual)}`;
    }
    if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null) {
      return isDeepStrictEqual(expected, actual) ? undefined : `${path} is ${JSON.stringify(actual)}`;
    }
    const keys = Object.keys(expected);
    const others = Object.keys(actual);
    if (!isDeepStrictEqual([...keys].sort(), [...others].sort())) return `${path} has the keys ${others.join(', ')}`;
    const [wanted, given] = [expected as Record<string, unknown>, actual as Record<string, unknown>];
    for (const key of keys) {
      const difference = this.compare(wanted[key], given[key], `${path}.${key}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }

  private sourceOf(name: string, names: string[]): string {
    const kind = kindOf(name);
    const pattern = patterns[kind];
    if (pattern === undefined) throw new Error(`{${name}} is not a placeholder of the page`);
    if (kind === 'now' || kind === 'in') return literally(this.timeOf(name));
    if (unbound.has(kind)) return `(?:${pattern.source})`;
    const value = this.values.get(name);
    if (value !== undefined) return literally(value);
    names.push(name);
    return `(${pattern.source})`;
  }

  private timeOf(name: string): string {
    const [, count = '0', unit = 'second'] = /^in (\d+) (\w+?)s?$/.exec(name) ?? [];
    return new Date(this.now().getTime() + Number(count) * milliseconds[unit]!).toISOString();
  }
}
