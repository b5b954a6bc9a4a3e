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

/** The pair of tokens, shared by all tabs, and the one refresh at a time that they agree on. */
export class Session {
  private readonly slot: Slot<Tokens>;
  private refreshing: Promise<string> | undefined;

  constructor(
    storage: KeyValueStorage,
    key: string,
    private readonly client: Client,
    private readonly exclusive: Exclusive,
    private readonly ended: () => void,
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

  /** Calls with the access token, and once more with a new one where the service no longer takes it. */
  async authorised<T>(call: (accessToken: string) => Promise<T>): Promise<T> {
    const { tokens } = this;
    if (tokens === undefined) throw new RuleError('signed-out');
    try {
      return await call(tokens.access);
    } catch (error) {
      if (!(error instanceof ServiceError) || !isStale(error)) throw error;
    }
    return call(await this.refresh(tokens.access));
  }

  /**
   * A new access token in the place of `stale`. Callers of this tab share one request; a tab that waited for another one finds
   * the pair already renewed and asks nothing.
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
      // A logout of another tab in the meantime must not be undone here.
      if (this.tokens?.refresh !== tokens.refresh) throw new RuleError('signed-out');
      this.open({ access: fresh.access_token, refresh: fresh.refresh_token });
      return fresh.access_token;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'AUTH_401006' && this.tokens?.refresh === tokens.refresh) {
        this.close();
        this.ended();
      }
      throw error;
    }
  }
}

/** Missing, expired or revoked: which of them, the refresh finds out. */
function isStale({ code }: ServiceError): boolean {
  return code === 'AUTH_401001' || code === 'AUTH_401002' || code === 'AUTH_401004';
}

function isTokens(value: unknown): value is Tokens {
  return isRecord(value) && typeof value.access === 'string' && typeof value.refresh === 'string';
}
