import type { Client } from './generated/client/index.js';
import {
  changeOwnPassword,
  createRecoveryCodes,
  deleteTrustedDevice,
  endOtherSessions,
  endSession,
  getLoginHistory,
  getRecoveryCodes,
  getTrustedDevices,
  listSessions,
} from './generated/index.js';
import { dataOf } from './service-client.js';
import type { Session } from './session.js';

export interface OwnPasswordChange {
  readonly currentPassword: string;
  readonly password: string;
  /** Default: `password`, for a page without a second field. */
  readonly confirmation?: string;
}

export interface OwnSession {
  readonly sid: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  /** Null for a session from before an update of the service. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly amr: readonly string[];
  /** The session of this browser. */
  readonly current: boolean;
}

export interface PastLogin {
  readonly createdAt: Date;
  readonly ip: string;
  readonly userAgent: string;
  readonly provider: string;
  readonly mfa: string | null;
  /** `success`, or the error code of the refusal. */
  readonly outcome: string;
}

export interface RecoveryCodeSummary {
  readonly left: number;
  /** Null when the user has no codes. */
  readonly createdAt: Date | null;
}

export interface TrustedDevice {
  readonly id: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly ip: string;
  readonly userAgent: string;
}

/** The calls with which signed-in users keep their own account safe (docs/spec/extensions.md#a). */
export class OwnAccount {
  private readonly running = new Map<string, Promise<unknown>>();

  constructor(
    private readonly client: Client,
    private readonly session: Session,
  ) {}

  /** A double click sends one request: the second request would count as a guess with a wrong current password. */
  changePassword({ currentPassword, password, confirmation = password }: OwnPasswordChange): Promise<void> {
    const body = { current_password: currentPassword, password, confirm_password: confirmation };
    return this.once(`password ${JSON.stringify(body)}`, () =>
      this.session.replace(async (auth) => {
        const pair = await dataOf(changeOwnPassword({ client: this.client, auth, body }));
        return { access: pair.access_token, refresh: pair.refresh_token };
      }),
    );
  }

  async sessions(): Promise<OwnSession[]> {
    const { sessions } = await this.call((auth) => dataOf(listSessions({ client: this.client, auth })));
    return sessions.map(({ sid, created_at, last_used_at, ip, user_agent, amr, current }) => ({
      sid,
      createdAt: new Date(created_at),
      lastUsedAt: dateOrNull(last_used_at),
      ip,
      userAgent: user_agent,
      amr,
      current,
    }));
  }

  async endSession(sid: string): Promise<void> {
    await this.call((auth) => dataOf(endSession({ client: this.client, auth, path: { sid } })));
  }

  async endOtherSessions(): Promise<number> {
    return (await this.call((auth) => dataOf(endOtherSessions({ client: this.client, auth })))).ended;
  }

  async loginHistory(limit?: number): Promise<PastLogin[]> {
    const query = limit === undefined ? {} : { limit };
    const { logins } = await this.call((auth) => dataOf(getLoginHistory({ client: this.client, auth, query })));
    return logins.map(({ created_at, user_agent, ip, provider, mfa, outcome }) => ({
      createdAt: new Date(created_at),
      ip,
      userAgent: user_agent,
      provider,
      mfa,
      outcome,
    }));
  }

  async recoveryCodes(): Promise<RecoveryCodeSummary> {
    const { left, created_at } = await this.call((auth) => dataOf(getRecoveryCodes({ client: this.client, auth })));
    return { left, createdAt: dateOrNull(created_at) };
  }

  /** A double click makes one set: a second set would make the codes of the first answer useless. */
  makeRecoveryCodes(): Promise<string[]> {
    return this.once('codes', async () => {
      return (await this.call((auth) => dataOf(createRecoveryCodes({ client: this.client, auth })))).codes;
    });
  }

  async trustedDevices(): Promise<TrustedDevice[]> {
    const { devices } = await this.call((auth) => dataOf(getTrustedDevices({ client: this.client, auth })));
    return devices.map(({ id, created_at, last_used_at, ip, user_agent }) => ({
      id,
      createdAt: new Date(created_at),
      lastUsedAt: new Date(last_used_at),
      ip,
      userAgent: user_agent,
    }));
  }

  async endTrustedDevice(id: string): Promise<void> {
    await this.call((auth) => dataOf(deleteTrustedDevice({ client: this.client, auth, path: { id } })));
  }

  private call<T>(send: (accessToken: string) => Promise<T>): Promise<T> {
    return this.session.authorised(send);
  }

  /** Callers with the same key share one run of `work`. */
  private once<T>(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.running.get(key) as Promise<T> | undefined;
    if (running !== undefined) return running;
    const started = work().finally(() => this.running.delete(key));
    this.running.set(key, started);
    return started;
  }
}

const dateOrNull = (text: string | null): Date | null => (text === null ? null : new Date(text));
