import { randomUUID } from 'node:crypto';
import type { ClientInfo } from '../../src/shared/client-info';
import { SessionOpener } from '../../src/sessions/session-opener';
import type { User } from '../../src/users/user.entity';
import { type Answer, type Request, TestService } from './app';
import { type AuthenticatorKind, type Deviation, SoftAuthenticator, type SoftCredential } from './authenticator';

export const passkeySettings = { SYSTEM_URL: 'https://portal.test', SMTP_URL: 'smtp://127.0.0.1:9' };
export const origin = 'https://portal.test';

export const browser: ClientInfo = {
  ip: '127.0.0.1',
  userAgent: 'test',
  language: 'en',
  requestId: 'request',
  signal: new AbortController().signal,
};

/** A service with the requests of passkeys. */
export class PasskeyClient {
  constructor(readonly service: TestService) {}

  static async start(settings: Record<string, string> = {}): Promise<PasskeyClient> {
    return new PasskeyClient(await TestService.start({ ...passkeySettings, ...settings }));
  }

  options(access: string): Promise<Answer> {
    return this.service.post('/passkeys/options', undefined, { bearer: access });
  }

  add(access: string, response: unknown, name: unknown = 'Phone'): Promise<Answer> {
    return this.service.post('/passkeys', { name, response }, { bearer: access });
  }

  /** Adds a passkey to the account of the session. */
  async register(access: string, authenticator: SoftAuthenticator, name = 'Phone', deviation: Deviation = {}) {
    const { data } = dataOf(await this.options(access));
    return this.add(access, authenticator.create(data, deviation), name);
  }

  async list(access: string): Promise<Record<string, any>[]> {
    return dataOf(await this.service.get('/passkeys', { bearer: access })).data.passkeys;
  }

  async challenge(): Promise<{ challenge_id: string; options: { challenge: string; rpId: string } }> {
    return dataOf(await this.service.post('/login/passkey-options', {})).data;
  }

  submit(challenge_id: unknown, response: unknown, request: Request = {}): Promise<Answer> {
    return this.service.post('/login/passkey', { challenge_id, response }, request);
  }

  async logIn(
    authenticator: SoftAuthenticator,
    deviation: Deviation = {},
    credential?: SoftCredential,
  ): Promise<Answer> {
    const { challenge_id, options } = await this.challenge();
    return this.submit(challenge_id, authenticator.get(options, deviation, credential));
  }

  /** Opens a session, also where a login would need a code. @returns the access token */
  async openSession(user: User): Promise<string> {
    return (await this.service.app.get(SessionOpener).open(user, browser, null)).accessToken;
  }

  /** Creates a user with a passkey. `access` is the token of the session in which it was added. */
  async givenPasskey(name: string = randomUUID(), kind: AuthenticatorKind = {}) {
    const user = await this.service.givenUser(name);
    const access = await this.openSession(user);
    const authenticator = new SoftAuthenticator(origin, kind);
    const { data } = dataOf(await this.register(access, authenticator));
    return { user, access, authenticator, id: data.id as string };
  }
}

export function dataOf({ status, body }: Answer): { data: any } {
  if (status !== 200) throw new Error(`expected a success, but the service answered ${JSON.stringify(body)}`);
  return body as { data: any };
}
