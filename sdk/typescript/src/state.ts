import { isRecord } from './storage.js';

/** Why the login page is shown, where that needs a word. */
export type Notice = 'too-many-codes' | 'login-expired' | 'password-changed' | 'session-ended';

/** Where the user stands. */
export type Step =
  | { readonly kind: 'signed-out'; readonly notice?: Notice }
  | {
      readonly kind: 'code';
      readonly type: 'email' | 'totp';
      readonly loginName: string;
      /** Masked by the service. */
      readonly email: string | null;
      readonly attemptsLeft: number;
    }
  | { readonly kind: 'password-change'; readonly uid: string }
  | { readonly kind: 'signed-in' };

/** An authenticator that is being set up. */
export interface Enrolment {
  readonly uid: string;
  readonly secret: string;
  readonly uri: string;
  readonly failures: number;
}

/** Whole seconds until the action is allowed again; 0 when it is. */
export interface Waiting {
  readonly login: number;
  readonly code: number;
  readonly resend: number;
  readonly forgot: number;
}

/** All that a page needs to draw itself; a new object whenever something in it changes, a second of a wait included. */
export interface Snapshot {
  readonly step: Step;
  readonly enrolment: Enrolment | undefined;
  readonly waiting: Waiting;
}

/** A login that waits for its code: of this tab, kept over a reload. */
export interface PendingLogin {
  readonly uid: string;
  readonly type: 'email' | 'totp';
  readonly mfaToken: string | null;
  readonly loginName: string;
  readonly email: string | null;
  readonly failures: number;
}

export function isPendingLogin(value: unknown): value is PendingLogin {
  return (
    isRecord(value) &&
    typeof value.uid === 'string' &&
    (value.type === 'email' || value.type === 'totp') &&
    (value.mfaToken === null || typeof value.mfaToken === 'string') &&
    typeof value.loginName === 'string' &&
    (value.email === null || typeof value.email === 'string') &&
    typeof value.failures === 'number'
  );
}

export function isEnrolment(value: unknown): value is Enrolment {
  return (
    isRecord(value) &&
    typeof value.uid === 'string' &&
    typeof value.secret === 'string' &&
    typeof value.uri === 'string' &&
    typeof value.failures === 'number'
  );
}
