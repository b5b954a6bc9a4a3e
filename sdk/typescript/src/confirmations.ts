import { clientRules } from './client-rules.js';
import { isRefusedCode, plainCode, resendOf } from './codes.js';
import { withCookies } from './external-sign-ins.js';
import { RuleError, ServiceError } from './failures.js';
import type { Client } from './generated/client/index.js';
import { reauthenticate, resendOtp, verifyOtp } from './generated/index.js';
import type { LoginResponse, ReauthenticateDto } from './generated/types.gen.js';
import type { Passkeys, PasskeySignIn } from './own-passkeys.js';
import { dataOf } from './service-client.js';
import type { Session } from './session.js';
import type { Tokens } from './shared-pair.js';
import type { Waits } from './waits.js';

/** How users confirm who they are. A passkey is both factors. */
export type Proof =
  | { readonly password: string; readonly secondFactor?: boolean }
  | { readonly external: string }
  | ({ readonly passkey: true } & Pick<PasskeySignIn, 'signal' | 'onChosen'>);

/** A code that is due after the password. It lives as long as this object is kept. */
export interface ConfirmationCode {
  readonly type: 'email' | 'totp';
  /** Masked by the service. Null: no code was mailed, and only a recovery code helps. */
  readonly email: string | null;
  /** 0: the user begins with the password again. */
  readonly attemptsLeft: number;
  /** A refused code starts a wait of 10 seconds. */
  verify(code: string, options?: { readonly type?: 'recovery' }): Promise<void>;
  /** Two mails are at least 60 seconds apart. */
  resend(): Promise<void>;
}

/** What the page is asked for. `secondFactor`: the password alone was not enough. */
export interface FreshLogin {
  readonly secondFactor: boolean;
}

/** Asks the user, with `reauthenticate()`. Resolves to true when the user has confirmed, and to false for a cancel. */
export type AskFreshLogin = (wanted: FreshLogin) => Promise<boolean>;

interface Ports {
  readonly client: Client;
  readonly session: Session;
  readonly passkeys: Passkeys;
  readonly tabWaits: Waits;
  readonly sharedWaits: Waits;
  readonly changed: () => void;
}

/** Users who confirm who they are, without a new session (docs/spec/extensions.md#reauthenticate). */
export class Confirmations {
  /** The page asks with it. */
  ask: AskFreshLogin | undefined;
  private asking: Promise<boolean> | undefined;
  private code: MailedCode | undefined;

  constructor(private readonly ports: Ports) {}

  /** The user whose code can be sent again. */
  get uid(): string | undefined {
    return this.code?.uid;
  }

  /** Two actions that are refused at once ask once. A cancel rejects with the refusal of the action. */
  async fresh<T>(action: () => Promise<T>, ask = this.ask): Promise<T> {
    let secondFactor = false;
    for (;;) {
      try {
        return await action();
      } catch (error) {
        if (ask === undefined || !isStale(error) || !(await this.asked(ask, { secondFactor }))) throw error;
        // The answer of the second pass stands. There is no third one.
        if (secondFactor) return action();
        secondFactor = true;
      }
    }
  }

  private asked(ask: AskFreshLogin, wanted: FreshLogin): Promise<boolean> {
    this.asking ??= ask(wanted).finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }

  /**
   * The new pair replaces that of all tabs.
   * @returns the code that is due, or undefined when the session is confirmed
   */
  async confirm(proof: Proof): Promise<ConfirmationCode | undefined> {
    const { session, client, passkeys } = this.ports;
    const body = await bodyOf(proof, passkeys);
    const options = { client, ...('external' in proof && withCookies), body };
    try {
      await session.replace(async (auth) => this.pairOf(await dataOf(reauthenticate({ ...options, auth }))));
    } catch (error) {
      this.resume(error);
    } finally {
      this.ports.changed();
    }
    return this.code;
  }

  /** Forgets the code of a session that the user has left. */
  forget(): void {
    this.code = undefined;
  }

  /** MFA_429001: the password was right, and the code that was mailed before still works. The user has cancelled before. */
  private resume(error: unknown): void {
    const told = error instanceof ServiceError && error.code === 'MFA_429001';
    if (!told || this.code === undefined || this.code.attemptsLeft === 0) throw error;
    this.ports.sharedWaits.start(resendOf(this.code.uid), error.retryAfter ?? 1);
  }

  private pairOf(answer: LoginResponse): Tokens | undefined {
    const { access_token: access, refresh_token: refresh, mfa_type: type, mfa_token: mfaToken, user_info } = answer;
    this.code = undefined;
    if (access !== null && refresh !== null) return { access, refresh };
    if (mfaToken === null) return undefined;
    if (type === 'email') this.ports.sharedWaits.start(resendOf(user_info.uid), clientRules.resendSeconds);
    this.code = new MailedCode(this.ports, { type, mfaToken, uid: user_info.uid, email: user_info.email });
    return undefined;
  }
}

async function bodyOf(proof: Proof, passkeys: Passkeys): Promise<ReauthenticateDto> {
  if ('passkey' in proof) return passkeys.assert(proof);
  if ('external' in proof) return { external: proof.external };
  return { password: proof.password, ...(proof.secondFactor && { second_factor: true }) };
}

interface Due {
  readonly type: 'email' | 'totp';
  readonly mfaToken: string;
  readonly uid: string;
  readonly email: string | null;
}

class MailedCode implements ConfirmationCode {
  readonly type: 'email' | 'totp';
  readonly email: string | null;
  readonly uid: string;
  private readonly mfaToken: string;
  private failures = 0;

  constructor(
    private readonly ports: Ports,
    { type, mfaToken, uid, email }: Due,
  ) {
    this.type = type;
    this.email = email;
    this.uid = uid;
    this.mfaToken = mfaToken;
  }

  get attemptsLeft(): number {
    return clientRules.codeFailures - this.failures;
  }

  async verify(code: string, { type }: { readonly type?: 'recovery' } = {}): Promise<void> {
    const { client, session, tabWaits, changed } = this.ports;
    assertNoWait(tabWaits, 'code');
    const body = { uid: this.uid, type: type ?? this.type, code: plainCode(code), mfa_token: this.mfaToken };
    try {
      await session.replace(async () => {
        const { access_token: access, refresh_token: refresh } = await dataOf(verifyOtp({ client, body }));
        return { access, refresh };
      });
      // It is used up, so a confirmation within the minute must not go on with it.
      this.failures = clientRules.codeFailures;
    } catch (error) {
      if (isRefusedCode(error)) {
        this.failures++;
        if (this.attemptsLeft > 0) tabWaits.start('code', clientRules.codeWaitSeconds);
      }
      throw error;
    } finally {
      changed();
    }
  }

  async resend(): Promise<void> {
    const { client, sharedWaits, changed } = this.ports;
    const wait = resendOf(this.uid);
    assertNoWait(sharedWaits, wait);
    const body = { uid: this.uid, type: 'email' as const, mfa_token: this.mfaToken };
    try {
      const { retry_after: told } = await dataOf(resendOtp({ client, body }));
      sharedWaits.start(wait, Math.max(told, clientRules.resendSeconds));
    } catch (error) {
      // A resend checks no code, so this error can only mean that the confirmation is over.
      if (isRefusedCode(error)) this.failures = clientRules.codeFailures;
      if (error instanceof ServiceError && error.status === 429) sharedWaits.start(wait, error.retryAfter ?? 1);
      throw error;
    } finally {
      changed();
    }
  }
}

function assertNoWait(waits: Waits, name: string): void {
  const seconds = waits.remaining(name);
  if (seconds > 0) throw new RuleError('wait', seconds);
}

/** The service wants a fresh login, or one with the second factor. */
function isStale(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'AUTH_403002';
}
