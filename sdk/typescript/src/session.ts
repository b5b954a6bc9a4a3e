import type { Exclusive } from './exclusive.js';
import { RuleError, ServiceError } from './failures.js';
import type { Client } from './generated/client/index.js';
import { refresh } from './generated/index.js';
import { dataOf } from './service-client.js';
import { isRecord, type KeyValueStorage, Slot } from './storage.js';

export interface Tokens {
  readonly access: string;
  readonly refresh: string;
}

export interface SessionEvents {
  readonly ended: () => void;
  readonly renewed: () => void;
  /** The service has opened this session for a user who has signed out in the meantime. */
  readonly unclaimed: (tokens: Tokens) => void;
}

/** The token pair that all tabs share. Only one tab refreshes it at a time. */
export class Session {
  private readonly slot: Slot<Tokens>;
  private refreshing: Promise<string> | undefined;

  constructor(
    storage: KeyValueStorage,
    key: string,
    private readonly client: Client,
    private readonly exclusive: Exclusive,
    private readonly on: SessionEvents,
  ) {
    this.slot = new Slot(storage, key, isTokens);
  }

  get tokens(): Tokens | undefined {
    return this.slot.read();
  }

  open(tokens: Tokens): void {
    this.slot.write(tokens);
  }

  close(): void {
    this.slot.remove();
  }

  /** Runs `call` with the access token. If the service refuses the token, runs it once more with a new one. */
  authorised<T>(call: (accessToken: string) => Promise<T>): Promise<T> {
    return this.attempt(call, (stale) => this.refresh(stale));
  }

  /**
   * Like `authorised`, for a call whose answer replaces the pair of all tabs. No tab refreshes during the call: the
   * service would refuse the old refresh token, and the refusal would end the session in every tab.
   */
  replace(call: (accessToken: string) => Promise<Tokens>): Promise<void> {
    return this.exclusive.run(async () => {
      let used: string | undefined;
      const send = (access: string): Promise<Tokens> => call((used = access));
      const fresh = await this.attempt(send, (stale) => this.refreshOnce(stale));
      if (this.tokens?.access !== used) {
        // A tab has signed out in the meantime. Storing the new pair would undo that.
        this.on.unclaimed(fresh);
        throw new RuleError('signed-out');
      }
      this.open(fresh);
      this.on.renewed();
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
    this.refreshing ??= this.exclusive
      .run(() => this.refreshOnce(stale))
      .finally(() => {
        this.refreshing = undefined;
      });
    return this.refreshing;
  }

  private async refreshOnce(stale: string): Promise<string> {
    const { tokens } = this;
    if (tokens === undefined) throw new RuleError('signed-out');
    if (tokens.access !== stale) return tokens.access;
    try {
      const fresh = await dataOf(refresh({ client: this.client, auth: tokens.refresh }));
      // If another tab logged out in the meantime, storing the new pair would undo that logout.
      if (this.tokens?.refresh !== tokens.refresh) throw new RuleError('signed-out');
      this.open({ access: fresh.access_token, refresh: fresh.refresh_token });
      this.on.renewed();
      return fresh.access_token;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'AUTH_401006' && this.tokens?.refresh === tokens.refresh) {
        this.close();
        this.on.ended();
      }
      throw error;
    }
  }
}

/** The access token is missing, expired or revoked. The refresh then shows whether the session has ended. */
function isStale({ code }: ServiceError): boolean {
  return code === 'AUTH_401001' || code === 'AUTH_401002' || code === 'AUTH_401004';
}

function isTokens(value: unknown): value is Tokens {
  return isRecord(value) && typeof value.access === 'string' && typeof value.refresh === 'string';
}
