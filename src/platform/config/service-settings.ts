import type { SettingsReader } from './settings-reader';

export abstract class ServiceSettings {
  abstract readonly production: boolean;
  /** The public address of the portal. It is the only base of links in mails (docs/spec/attacks.md#w29). */
  abstract readonly systemUrl: string;
  /** The folder of what the service keeps itself: secrets outside production, mails without a mail server. */
  abstract readonly dataDir: string;
}

/** @param port where the service listens: a part of the default of `SYSTEM_URL` */
export function readServiceSettings(env: SettingsReader, production: boolean, port: number): ServiceSettings {
  return {
    production,
    systemUrl: readSystemUrl(env, production, port),
    dataDir: env.text('DATA_DIR', './data'),
  };
}

/**
 * The base of links in mails. In production it has no default, so that it is never guessed (docs/spec/attacks.md#w29).
 */
function readSystemUrl(env: SettingsReader, production: boolean, port: number): string {
  const url = production
    ? env.url('SYSTEM_URL', ['https:'])
    : env.url('SYSTEM_URL', ['http:', 'https:'], `http://127.0.0.1:${port}`);
  if (url === '') return url;
  const { protocol, username, password } = new URL(url);
  // The service appends a path and a query.
  if (/[?#]/.test(url)) env.problem('SYSTEM_URL', 'must not have a query or a fragment');
  // Links and the issuer of tokens have this text, so everybody would read the password.
  else if (username !== '' || password !== '') env.problem('SYSTEM_URL', 'must not have a user or a password');
  // `new URL` completes `https:p.example` and `https:///p.example`, but a link in a mail has the text.
  else if (!/^\w+:\/\/[^/\\]/.test(url)) env.problem('SYSTEM_URL', `must have a host after ${protocol}//`);
  return url;
}
