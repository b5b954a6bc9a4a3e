/** How a value of a field is replaced. `n` counts the different values of the field. */
type Fake = (n: number) => string;

const numbered =
  (text: string): Fake =>
  (n) =>
    `${text}-${n}`;

/** Fields whose values are secrets, or belong to one run. All other values are recorded as the service sent them. */
const fields: Readonly<Record<string, Fake>> = {
  access_token: numbered('example-access-token'),
  refresh_token: numbered('example-refresh-token'),
  device_token: numbered('example-device-token'),
  captcha_token: numbered('example-captcha-token'),
  mfa_token: numbered('example-mfa-token'),
  code: () => '123456',
  client_secret: numbered('example-client-secret'),
  // The alphabets of the real values: Base32, and Crockford's for recovery codes.
  secret: () => 'EXAMPLESECRETAAAAAAAAAAAAAAAAAAA',
  codes: (n) => `00000-${String(n).padStart(5, '0')}`,
  challenge: numbered('example-challenge'),
  rawId: numbered('example-passkey'),
  clientDataJSON: numbered('example-client-data'),
  authenticatorData: numbered('example-authenticator-data'),
  attestationObject: numbered('example-attestation'),
  signature: numbered('example-signature'),
  keySignature: numbered('example-key-signature'),
  nonce: numbered('example-nonce'),
  salt: numbered('example-salt'),
  keyPrefix: () => '00000000000000000000000000000000',
  request_id: numbered('example-request'),
  next: numbered('example-cursor'),
};

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** The id of an interaction of the OpenID provider, alone or in the URL where it goes on. */
const interaction = /(?<=^|\/oidc\/auth\/)[\w-]{43}$/g;
const hash = /^(?!0{50})[0-9a-f]{64}$/g;
const uuidOf: Fake = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
/** Fields with the `uid` of a user in base64url. */
const handles = new Set(['userHandle', 'user.id']);

/**
 * Replaces what differs from run to run by obviously fake values. The same value always gets the same replacement, so
 * the recorded exchanges still tell one story. A random value that is missing here fails the test, which compares two
 * runs.
 */
export class FakeValues {
  private readonly known = new Map<string, string>();
  private readonly counts = new Map<string, number>();

  of<T>(value: T): T {
    this.collect(value, '');
    return this.replaced(value, '') as T;
  }

  private collect(value: unknown, path: string): void {
    if (typeof value === 'object' && value !== null) {
      const list = Array.isArray(value);
      for (const [key, part] of Object.entries(value)) {
        this.collect(part, list ? path : `${lastOf(path)}.${key}`);
      }
      return;
    }
    const field = lastOf(path);
    const fake = fields[field];
    // Below `fields` the names of fields lead to messages about them.
    if (path !== `fields.${field}` && fake !== undefined && typeof value === 'string' && value !== '')
      this.remember(value, field, fake);
  }

  private remember(value: string, kind: string, fake: Fake): void {
    if (this.known.has(value)) return;
    const n = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, n);
    this.known.set(value, fake(n));
  }

  private replaced(value: unknown, path: string): unknown {
    if (Array.isArray(value)) return value.map((one) => this.replaced(one, path));
    if (typeof value === 'object' && value !== null) {
      const entries = Object.entries(value);
      return Object.fromEntries(entries.map(([key, part]) => [key, this.replaced(part, `${lastOf(path)}.${key}`)]));
    }
    if (typeof value !== 'string') return value;
    if (handles.has(lastOf(path)) || handles.has(path)) {
      return Buffer.from(this.text(Buffer.from(value, 'base64url').toString())).toString('base64url');
    }
    return this.text(value);
  }

  /** Replaces known values and ids, also within a longer text such as a URI. */
  private text(value: string): string {
    const whole = this.known.get(value);
    if (whole !== undefined) return whole;
    // A short value, such as a code of six digits, could be part of anything.
    const long = [...this.known].filter(([real]) => real.length > 16);
    const known = long.reduce((text, [real, fake]) => text.replaceAll(real, fake), value);
    const ids = known.replace(uuid, (id) => this.fakeOf(id, 'uuid', uuidOf));
    return ids
      .replace(interaction, (id) => this.fakeOf(id, 'interaction', numbered('example-interaction')))
      .replace(hash, (id) => this.fakeOf(id, 'hash', (n) => String(n).padStart(64, '0')));
  }

  private fakeOf(id: string, kind: string, fake: Fake): string {
    this.remember(id, kind, fake);
    return this.known.get(id)!;
  }
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);
