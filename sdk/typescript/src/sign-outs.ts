import type { ClientClock } from './client-clock.js';
import { ConnectionError, ServiceError } from './failures.js';
import type { Client } from './generated/client/index.js';
import { logout } from './generated/index.js';
import { dataOf } from './service-client.js';
import { type KeyValueStorage, Slot } from './storage.js';

const retryMs = 30_000;

/**
 * Ends sessions at the service. The refresh token of a session is stored until the service has answered, so that the
 * session also ends when the service is unavailable for a while or the tab is closed at once.
 */
export class SignOuts {
  private readonly slot: Slot<string[]>;
  private failed = false;
  private stopWaiting: () => void = () => undefined;

  constructor(
    storage: KeyValueStorage,
    key: string,
    private readonly client: Client,
    private readonly clock: ClientClock,
    /** Called when `unheard` has changed. */
    private readonly changed: (heard: boolean) => void,
  ) {
    this.slot = new Slot(storage, key, isTexts);
  }

  /** True when the service did not confirm a logout, so that the session may still be open. */
  get unheard(): boolean {
    return this.failed && this.open.length > 0;
  }

  /** @throws ServiceError or ConnectionError if the service could not end the session yet */
  async end(refreshToken: string): Promise<void> {
    this.slot.write([...this.open.filter((one) => one !== refreshToken), refreshToken]);
    await this.retry();
  }

  /** Ends all stored sessions. Several tabs may do so at once: the second request gets 401, which also is a success. */
  async retry(): Promise<void> {
    this.stopWaiting();
    const wasUnheard = this.unheard;
    try {
      for (const token of this.open) await this.send(token);
      this.failed = false;
    } catch (error) {
      this.failed = true;
      this.stopWaiting = this.clock.after(retryMs, () => void this.retry().catch(() => undefined));
      throw error;
    } finally {
      if (wasUnheard !== this.unheard) this.changed(wasUnheard);
    }
  }

  dispose(): void {
    this.stopWaiting();
  }

  private async send(refreshToken: string): Promise<void> {
    try {
      await dataOf(logout({ client: this.client, auth: refreshToken }));
    } catch (error) {
      if (isPassing(error)) throw error;
    }
    const left = this.open.filter((one) => one !== refreshToken);
    if (left.length > 0) this.slot.write(left);
    else this.slot.remove();
  }

  private get open(): readonly string[] {
    return this.slot.read() ?? [];
  }
}

/** True when the same request can succeed later. After any other refusal, such as 401, no session is left to end. */
function isPassing(error: unknown): boolean {
  return (
    error instanceof ConnectionError || (error instanceof ServiceError && (error.status === 429 || error.status >= 500))
  );
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
