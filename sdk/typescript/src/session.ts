import { type ErrorCode, RuleError, ServiceError } from './failures.js';
import type { Client } from './generated/client/index.js';
import { refresh } from './generated/index.js';
import { dataOf } from './service-client.js';
import { type PairPorts, type Seen, SharedPair, type Tokens } from './shared-pair.js';
import type { KeyValueStorage } from './storage.js';

export interface SessionEvents {
  readonly ended: () => void;
  readonly renewed: () => void;
  /** The service has opened this session for a user who has signed out in the meantime. */
  readonly unclaimed: (tokens: Tokens) => void;
}

/** The token pair that all tabs share. Only one tab refreshes it at a time. */
export class Session {
  private readonly pair: SharedPair;
  private refreshing: Promise<string> | undefined;

  constructor(
    storage: KeyValueStorage,
    key: string,
    private readonly client: Client,
    private readonly ports: PairPorts,
    private readonly on: SessionEvents,
  ) {
    this.pair = new SharedPair(storage, key, ports, (tokens) => {
      on.unclaimed(tokens);
      on.renewed();
    });
  }

  get tokens(): Tokens | undefined {
    return this.pair.tokens;
  }

  open(tokens: Tokens): void {
    this.pair.open(tokens);
  }

  close(): void {
    this.pair.close();
  }

  /** Runs `call` with the access token. If the service refuses the token, runs it once more with a new one. */
  authorised<T>(call: (accessToken: string) => Promise<T>): Promise<T> {
    return this.attempt(call, (stale) => this.refresh(stale));
  }

  /**
   * Like `authorised`, for a call whose answer replaces the pair of all tabs. No tab refreshes during the call: the
   * service would refuse the old refresh token, and the refusal would end the session in every tab. An answer without a
   * pair changes nothing.
   */
  replace(call: (accessToken: string) => Promise<Tokens | undefined>): Promise<void> {
    return this.ports.exclusive.run(async () => {
      let used = await this.newest();
      const fresh = await this.attempt(call, async (stale) => {
        const access = await this.refreshOnce(stale);
        used = await this.newest();
        return access;
      });
      if (fresh === undefined) return;
      if (await this.pair.replace(used, fresh)) return this.on.renewed();
      // A tab has signed out in the meantime. Storing the new pair would undo that.
      this.on.unclaimed(fresh);
      throw new RuleError('signed-out');
    });
  }

  private async attempt<T>(
    call: (accessToken: string) => Promise<T>,
    renew: (stale: string) => Promise<string>,
  ): Promise<T> {
    const { tokens } = this;
    if (tokens === undefined) throw new RuleError('signed-out');
    try {
      return await call(tokens.access);
    } catch (error) {
      if (!(error instanceof ServiceError) || !isStale(error)) throw error;
    }
    return call(await renew(tokens.access));
  }

  /**
   * Returns an access token that replaces `stale`. Callers of one tab share one request. A tab that waited for another
   * tab finds the new pair in the storage and sends no request.
   */
  async refresh(stale: string): Promise<string> {
    this.refreshing ??= this.ports.exclusive
      .run(() => this.refreshOnce(stale))
      .finally(() => {
        this.refreshing = undefined;
      });
    return this.refreshing;
  }

  private async refreshOnce(stale: string): Promise<string> {
    const seen = await this.newest();
    const { tokens } = seen;
    if (tokens.access !== stale) return tokens.access;
    try {
      const fresh = await dataOf(refresh({ client: this.client, auth: tokens.refresh }));
      // If another tab logged out in the meantime, storing the new pair would undo that logout.
      if (!(await this.pair.replace(seen, { access: fresh.access_token, refresh: fresh.refresh_token })))
        throw new RuleError('signed-out');
      this.on.renewed();
      return fresh.access_token;
    } catch (error) {
      if (error instanceof ServiceError && hasEnded(error.code) && (await this.pair.expire(seen))) this.on.ended();
      throw error;
    }
  }

  private async newest(): Promise<Seen> {
    const seen = await this.pair.newest();
    if (seen === undefined) throw new RuleError('signed-out');
    return seen;
  }
}

/** The access token is missing, expired, revoked or without its key. The refresh then shows whether the session has ended. */
function isStale({ code }: ServiceError): boolean {
  return code === 'AUTH_401001' || code === 'AUTH_401002' || code === 'AUTH_401004' || isUnproven(code);
}

/** Without its key, or where the service has begun to demand one, a session is of no more use. */
function hasEnded(code: ErrorCode): boolean {
  return code === 'AUTH_401006' || isUnproven(code);
}

const isUnproven = (code: ErrorCode): boolean => code === 'AUTH_401011';
