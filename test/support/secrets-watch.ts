import SqliteDatabase from 'better-sqlite3';
import { AnyOf } from './any-of';

/** Fields of requests whose values are secrets. */
const asked = new Set([
  'password',
  'confirm_password',
  'current_password',
  'captcha_token',
  'mfa_token',
  'device_token',
  'refresh_token',
  'token',
  'req_uid',
  'clientDataJSON',
  'attestationObject',
  'signature',
]);

/** Codes are too short to be looked for everywhere. */
const tooShort = new Set(['code']);

/** Fields of answers whose values are secrets. */
const answered = new Set([
  'access_token',
  'refresh_token',
  'mfa_token',
  'device_token',
  'change_uid',
  'captcha_token',
  'secret',
  'client_secret',
  'uri',
  'codes',
  'challenge',
]);

/** The tables that say what happened. */
const journals = ['audit_logs', 'login_logs', 'event_outbox'];

/** A signed token. A log that shows the first two parts has shown the token. */
const signedToken = /eyJ[\w-]{8,}\.eyJ[\w-]{8,}/;

/** The value in each form in which a program may write it. Case does not matter for the first list. */
export function formsOf(secret: string): { readonly anyCase: readonly string[]; readonly exact: readonly string[] } {
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const reversed = [...secret].reverse().join('');
  return {
    anyCase: [
      secret,
      reversed,
      json,
      JSON.stringify(json).slice(1, -1),
      encodeURIComponent(secret),
      new URLSearchParams({ secret }).toString().slice('secret='.length),
      bytes.toString('hex'),
    ].map((form) => form.toLowerCase()),
    exact: ['base64', 'base64url'].flatMap((encoding) => base64Of(bytes, encoding as BufferEncoding)),
  };
}

/** Base64 of a longer text that contains the bytes, at each of the three places where they can begin. */
function base64Of(bytes: Buffer, encoding: BufferEncoding): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString(encoding)
      .replaceAll('=', '');
    // The first and the last characters also depend on the bytes around.
    const first = Math.ceil((8 * before) / 6);
    const whole = Math.floor((8 * (before + bytes.length)) / 6);
    return encoded.slice(first, whole);
  });
}

/**
 * Collects the secrets that a test sends and receives, and finds them where they must not be: in logs, tables of events,
 * and answers that refuse (docs/spec/attacks.md#w47).
 */
export class SecretsWatch {
  private readonly secrets = new Map<string, string>();
  /** The most secrets to look for. A burst of a thousand logins makes no more kinds of them than its first ones. */
  most = 100;
  /** What the test sends in fields that may be logged. A password that is also a login name is no secret. */
  private readonly open = new Set<string>();
  /** Codes of six digits. They are looked for where no other digits or letters are beside them. */
  readonly codes = new Set<string>();
  private refusals = '';

  /** @param what where the secret is from, for the message of a failure */
  add(what: string, value: unknown): void {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (isMark(one) && this.secrets.size < this.most && !this.secrets.has(one)) this.secrets.set(one, what);
    }
  }

  /** The values that are looked for. */
  get size(): number {
    return this.secrets.size;
  }

  /** The secrets among the settings of a service, also those within an address. */
  settings(environment: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value = ''] of Object.entries(environment)) {
      if (/SECRET$|PASSWORD$|_KEY$|_TOKEN$/.test(name)) this.add(name, value);
      if (/_URL$/.test(name)) this.add(`the password in ${name}`, /:\/\/[^/@]*:([^/@]+)@/.exec(value)?.[1]);
    }
  }

  /** A text that may be logged. */
  allow(...texts: readonly unknown[]): void {
    for (const text of texts) if (typeof text === 'string') this.open.add(text.toLowerCase());
  }

  request(body: unknown, headers: Readonly<Record<string, string>>, bearer?: string): void {
    this.add('a token in the header', bearer);
    this.allow(headers['user-agent'], headers['x-request-id']);
    eachField(body, (name, value) => {
      if (asked.has(name)) this.add(`${name} of a request`, textsIn(value));
      else if (!tooShort.has(name)) this.allow(value);
      else if (typeof value === 'string' && /^\d{6}$/.test(value)) this.codes.add(value);
    });
  }

  /** @throws Error when an answer that refuses repeats a secret */
  answer(status: number, body: unknown, raw: Buffer): void {
    if (status < 400) {
      eachField(body, (name, value) => {
        if (answered.has(name)) this.add(`${name} of an answer`, value);
      });
    } else if (this.refusals.length < 200_000) {
      this.refusals += `${raw.toString()}\n`;
    }
  }

  /** The rows of the logs in an SQLite database. Empty where the database cannot be read, as a test may leave it. */
  rowsIn(databaseUrl: string): string {
    const file = /^sqlite:(.+)$/.exec(databaseUrl)?.[1];
    if (file === undefined) return '';
    try {
      const database = new SqliteDatabase(file, { readonly: true, fileMustExist: true, timeout: 100 });
      try {
        return journals.map((table) => JSON.stringify(database.prepare(`SELECT * FROM ${table}`).all())).join('\n');
      } finally {
        database.close();
      }
    } catch {
      return '';
    }
  }

  /**
   * @param channels the texts of each place, for example the lines of the log
   * @throws Error with the place and the origin of the first secret that is found, and not with the secret
   */
  assertAbsent(channels: Readonly<Record<string, string>>): void {
    const secrets = [...this.secrets].filter(([secret]) => !this.isOpen(secret));
    const originsOf = (kind: 'anyCase' | 'exact') =>
      new Map(secrets.flatMap(([secret, what]) => formsOf(secret)[kind].map((form) => [form, what] as const)));
    const [anyCase, exact] = [new AnyOf(originsOf('anyCase')), new AnyOf(originsOf('exact'))];
    for (const [place, text] of Object.entries({ ...channels, 'answers that refuse': this.refusals })) {
      const lower = text.toLowerCase();
      const found = anyCase.in(lower) ?? exact.in(text);
      if (found !== undefined) {
        throw new Error(`${place} contain ${found.origin}: ${around(lower, found.text.toLowerCase())}`);
      }
      const token = signedToken.exec(text);
      if (token !== null) throw new Error(`${place} contain a signed token: ${around(text, token[0])}`);
    }
  }

  private isOpen(secret: string): boolean {
    const lower = secret.toLowerCase();
    return [...this.open].some((text) => text.includes(lower));
  }
}

/** Long enough that no other text contains it by chance, and not a word such as `password`. */
function isMark(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 10 && /[a-z]/i.test(value) && /[^a-z]/i.test(value);
}

function eachField(value: unknown, use: (name: string, value: unknown) => void): void {
  if (typeof value === 'string') {
    for (const [name, part] of new URLSearchParams(value)) use(name, part);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    use(name, part);
    // A password in a wrong form, such as an object, is still a secret.
    if (typeof part === 'object' && !asked.has(name)) eachField(part, use);
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The text around a find, without it. */
function around(text: string, found: string): string {
  const at = text.indexOf(found);
  return `${text.slice(Math.max(0, at - 80), at)}[…]${text.slice(at + found.length, at + found.length + 40)}`;
}
