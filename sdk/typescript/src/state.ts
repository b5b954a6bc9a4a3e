import { isRecord } from './storage.js';

/** A reason for the login page that the page should tell the user. */
export type Notice =
  | 'too-many-codes'
  | 'login-expired'
  | 'password-changed'
  | 'session-ended'
  /** The user is signed out here, but the service has not confirmed the logout. The SDK retries until it has. */
  | 'logout-unheard'
  /** The service has confirmed a logout whose notice was `logout-unheard`. */
  | 'logout-heard';

/** The state of the user's login. */
export type Step =
  | { readonly kind: 'signed-out'; readonly notice?: Notice }
  | {
      readonly kind: 'code';
      readonly type: 'email' | 'totp';
      readonly loginName: string;
      /** Masked by the service. */
      readonly email: string | null;
      readonly attemptsLeft: number;
      /** The user went back to the login page and has logged in again. The code of the first login is still valid. */
      readonly resumed: boolean;
    }
  | { readonly kind: 'password-change'; readonly uid: string }
  | { readonly kind: 'signed-in' };

/** An authenticator that is being set up. The SDK keeps it in memory only, so a reload needs a new secret. */
export interface Enrolment {
  readonly uid: string;
  readonly loginName: string;
  readonly secret: string;
  readonly uri: string;
  readonly failures: number;
}

/** Whole seconds until the action is allowed again. 0 means that it is allowed now. */
export interface Waiting {
  readonly login: number;
  readonly code: number;
  /** Until `changeOwnPassword()` may be called again. */
  readonly password: number;
  readonly resend: number;
  readonly forgot: number;
  /** Until `signInWithPasskey()` may be called again. */
  readonly passkey: number;
}

/** All that a page needs to draw itself. Each change makes a new object, including each second of a wait. */
export interface Snapshot {
  readonly step: Step;
  readonly enrolment: Enrolment | undefined;
  readonly waiting: Waiting;
  /** The browser stores nothing, so the sign-in lasts until this tab is reloaded or closed. */
  readonly tabOnly: boolean;
}

/** The snapshot of a server, which is the same for all its users. */
export const nobody: Snapshot = {
  step: { kind: 'signed-out' },
  enrolment: undefined,
  waiting: { login: 0, code: 0, password: 0, resend: 0, forgot: 0, passkey: 0 },
  tabOnly: false,
};

/** A login that waits for its code. It belongs to one tab and survives a reload. */
export interface PendingLogin {
  readonly uid: string;
  readonly type: 'email' | 'totp';
  readonly mfaToken: string | null;
  readonly loginName: string;
  readonly email: string | null;
  readonly failures: number;
  /** The user name as typed. A pending login that the user left is resumed only for the same user name. */
  readonly username: string;
  readonly resumed: boolean;
}

export function isPendingLogin(value: unknown): value is PendingLogin {
  return (
    isRecord(value) &&
    typeof value.uid === 'string' &&
    (value.type === 'email' || value.type === 'totp') &&
    (value.mfaToken === null || typeof value.mfaToken === 'string') &&
    typeof value.loginName === 'string' &&
    (value.email === null || typeof value.email === 'string') &&
    typeof value.failures === 'number' &&
    typeof value.username === 'string' &&
    typeof value.resumed === 'boolean'
  );
}
