import { type Mailbox, mailboxOf } from '../shared/mail-address';

/** `opportunistic`: STARTTLS if the server offers it. Its certificate must then be valid. */
export type SmtpTls = 'none' | 'starttls' | 'tls' | 'opportunistic';

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: SmtpTls;
  readonly auth?: { readonly user: string; readonly pass: string };
  readonly sender: Mailbox;
}

/** Settings that cannot be used. The message names the key, never the value. */
export class SmtpProblem extends Error {
  override readonly name = 'SmtpProblem';
}

const modes: readonly string[] = ['none', 'starttls', 'tls'];
const usualPort: Record<SmtpTls, number> = { none: 25, opportunistic: 587, starttls: 587, tls: 465 };

/**
 * Reads the group `SMTP` of the root tenant (docs/spec/service.md#6.2). If HOST is set there, the group replaces
 * `SMTP_URL` as a whole. Otherwise the result is undefined.
 * @param openSecret opens a sealed SECRET and returns a plain one unchanged
 * @param from the sender if SENDER is not set
 * @throws SmtpProblem
 */
export function settingsOfTenant(
  group: ReadonlyMap<string, string>,
  openSecret: (stored: string) => string,
  from: string,
): SmtpSettings | undefined {
  const get = (key: string) => group.get(key)?.trim() || undefined;
  const host = get('HOST');
  if (host === undefined) return undefined;
  const port = get('PORT');
  const tls = modeOf(get('TLS')?.toLowerCase(), port === '465' ? 'tls' : 'opportunistic', 'SMTP TLS');
  const [user, secret] = [get('USER'), group.get('SECRET') ?? ''];
  return {
    host,
    port: portOf(port, tls, 'SMTP PORT'),
    tls,
    auth: user === undefined ? undefined : { user, pass: opened(secret, openSecret) },
    sender: senderOf(get('SENDER') ?? from, 'SMTP SENDER'),
  };
}

/**
 * Reads `smtp://user:password@host:port?tls=none|starttls|tls`. With `smtps://` TLS begins with the first byte.
 * @throws SmtpProblem
 */
export function settingsOfUrl(url: string, from: string): SmtpSettings {
  const parsed = new URL(url);
  const secure = parsed.protocol === 'smtps:';
  const tls = modeOf(parsed.searchParams.get('tls') ?? undefined, secure ? 'tls' : 'opportunistic', 'SMTP_URL: tls');
  if (secure && tls !== 'tls') throw new SmtpProblem('SMTP_URL: smtps:// and tls contradict each other');
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  if (host === '') throw new SmtpProblem('SMTP_URL has no host');
  const user = decoded(parsed.username);
  return {
    host,
    port: portOf(parsed.port || undefined, tls, 'SMTP_URL: the port'),
    tls,
    auth: user === '' ? undefined : { user, pass: decoded(parsed.password) },
    sender: senderOf(from, 'MAIL_FROM'),
  };
}

function modeOf(value: string | undefined, otherwise: SmtpTls, key: string): SmtpTls {
  if (value === undefined) return otherwise;
  if (!modes.includes(value)) throw new SmtpProblem(`${key} must be none, starttls or tls`);
  return value as SmtpTls;
}

function portOf(value: string | undefined, tls: SmtpTls, key: string): number {
  const port = value === undefined ? usualPort[tls] : Number(value);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new SmtpProblem(`${key} must be from 1 to 65535`);
  return port;
}

function senderOf(text: string, key: string): Mailbox {
  const sender = mailboxOf(text);
  if (sender === undefined) throw new SmtpProblem(`${key} must be an address, or a name and <address>`);
  return sender;
}

function opened(secret: string, open: (stored: string) => string): string {
  try {
    return open(secret);
  } catch {
    throw new SmtpProblem(
      'DATA_ENCRYPTION_KEY does not open SMTP SECRET: set SMTP SECRET again, or add the missing key',
    );
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new SmtpProblem('SMTP_URL is not properly percent-encoded');
  }
}
