import type { ClientClock } from './client-clock.js';
import { clientRules } from './client-rules.js';
import { ConnectionError, PasskeyError } from './failures.js';
import type { Client } from './generated/client/index.js';
import {
  createPasskeyChallenge,
  createPasskeyOptions,
  deletePasskey,
  listPasskeys,
  loginWithPasskey,
  registerPasskey,
  renamePasskey,
} from './generated/index.js';
import type { AuthenticationResponseDto, LoginResponse, RegistrationResponseDto } from './generated/types.gen.js';
import type { PasskeyBrowser, PasskeySupport } from './passkey-browser.js';
import { dataOf } from './service-client.js';
import type { Session } from './session.js';

export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  /** Null when the user has not signed in with it yet. */
  readonly lastUsedAt: Date | null;
  /** The passkey is kept by a password manager that syncs it to other devices of the user. */
  readonly backedUp: boolean;
}

export type NewPasskey = Pick<Passkey, 'id' | 'name' | 'createdAt'>;

export interface PasskeySignIn {
  /** Waits for the user to choose a passkey in the autofill of a field, and shows no prompt. */
  readonly autofill?: boolean;
  /** Ends the prompt or the autofill; the call then rejects with `aborted`. */
  readonly signal?: AbortSignal;
  /** Called when the user has confirmed a passkey, and the service is going to check it. */
  readonly onChosen?: () => void;
}

interface Ceremony {
  readonly autofill: boolean;
  readonly abort: () => void;
  /** Resolves when the browser is free for the next ceremony. */
  readonly over: Promise<unknown>;
}

/** The passkeys of a user, and the login with one of them (docs/spec/extensions.md#b). */
export class Passkeys {
  private browser: Promise<PasskeyBrowser> | undefined;
  private running: Ceremony | undefined;

  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly clock: ClientClock,
    private readonly load: (() => Promise<PasskeyBrowser>) | undefined,
  ) {}

  async support(): Promise<PasskeySupport> {
    if (this.load === undefined) return { passkeys: false, autofill: false, platform: false };
    return (await this.loaded()).support();
  }

  async signIn(options: PasskeySignIn): Promise<LoginResponse> {
    return dataOf(loginWithPasskey({ client: this.client, body: await this.assert(options) }));
  }

  /** Lets the user choose a passkey. The answer proves who the user is, once. */
  async assert({ autofill = false, signal, onChosen }: PasskeySignIn) {
    const body = await this.ceremony(autofill, signal, (browser, own) => this.assertion(browser, own, autofill));
    onChosen?.();
    return body;
  }

  async register(name: string): Promise<NewPasskey> {
    const response = await this.ceremony(false, undefined, async (browser, own) => {
      const options = await this.call((auth) => dataOf(createPasskeyOptions({ client: this.client, auth })));
      return browser.create(options, own);
    });
    const body = { name, response: response as RegistrationResponseDto };
    const made = await this.call((auth) => dataOf(registerPasskey({ client: this.client, auth, body })));
    return { id: made.id, name: made.name, createdAt: new Date(made.created_at) };
  }

  async list(): Promise<Passkey[]> {
    const { passkeys } = await this.call((auth) => dataOf(listPasskeys({ client: this.client, auth })));
    return passkeys.map(({ id, name, created_at, last_used_at, backed_up }) => ({
      id,
      name,
      createdAt: new Date(created_at),
      lastUsedAt: last_used_at === null ? null : new Date(last_used_at),
      backedUp: backed_up,
    }));
  }

  async rename(id: string, name: string): Promise<void> {
    await this.call((auth) => dataOf(renamePasskey({ client: this.client, auth, path: { id }, body: { name } })));
  }

  async remove(id: string): Promise<void> {
    await this.call((auth) => dataOf(deletePasskey({ client: this.client, auth, path: { id } })));
  }

  dispose(): void {
    this.running?.abort();
  }

  /** Autofill can wait for longer than a challenge lives, so it gets a new challenge from time to time. */
  private async assertion(browser: PasskeyBrowser, signal: AbortSignal, autofill: boolean) {
    for (;;) {
      const { challenge_id, options } = await dataOf(createPasskeyChallenge({ client: this.client }));
      const { signal: round, abort, unlink } = abortedWith(signal);
      const stop = autofill ? this.clock.after(clientRules.autofillSeconds * 1000, abort) : () => undefined;
      try {
        return { challenge_id, response: (await browser.get(options, round, autofill)) as AuthenticationResponseDto };
      } catch (error) {
        if (signal.aborted || !round.aborted) throw error;
      } finally {
        stop();
        unlink();
      }
    }
  }

  /**
   * A browser runs one ceremony at a time. A prompt ends the ceremony before it, because the user has just asked for
   * it. Autofill ends no prompt.
   */
  private async ceremony<T>(
    autofill: boolean,
    wanted: AbortSignal | undefined,
    work: (browser: PasskeyBrowser, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const former = this.running;
    if (autofill && former?.autofill === false) throw new PasskeyError('aborted');
    const { signal, abort, unlink } = abortedWith(wanted);
    // A request for options can still be open when the ceremony is aborted. Nobody waits for its answer.
    const aborted = new Promise<never>((_resolve, reject) => {
      const fail = () => reject(new PasskeyError('aborted'));
      if (signal.aborted) fail();
      signal.addEventListener('abort', fail);
    });
    const run = async () => {
      former?.abort();
      await former?.over;
      return work(await this.loaded(), signal);
    };
    const result = Promise.race([aborted, run()]);
    const own: Ceremony = { autofill, abort, over: result.catch(() => undefined) };
    this.running = own;
    try {
      return await result;
    } finally {
      unlink();
      if (this.running === own) this.running = undefined;
    }
  }

  private loaded(): Promise<PasskeyBrowser> {
    if (this.load === undefined) {
      const message = 'PortalAuth was created without the option "passkeys"';
      return Promise.reject(new PasskeyError('not-supported', { cause: new Error(message) }));
    }
    this.browser ??= this.load().catch((cause: unknown) => {
      this.browser = undefined;
      throw new ConnectionError('the code for passkeys did not load', { cause });
    });
    return this.browser;
  }

  private call<T>(send: (accessToken: string) => Promise<T>): Promise<T> {
    return this.session.authorised(send);
  }
}

/** A signal that `abort` aborts, and `outer` too. `AbortSignal.any` does the same, but many browsers lack it. */
function abortedWith(outer: AbortSignal | undefined) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (outer?.aborted) abort();
  outer?.addEventListener('abort', abort);
  return { signal: controller.signal, abort, unlink: () => outer?.removeEventListener('abort', abort) };
}
