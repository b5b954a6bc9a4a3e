import type { KeyRing } from '../../platform/crypto/key-ring';
import type { RequestType } from '../../shared/change-type';
import type { Language } from '../../shared/languages';
import type en from '../../shared/languages/en.json';

interface Recipient {
  /** The stored address, never the one that a request submitted. */
  readonly to: string;
  readonly language: Language;
  /** The name of the greeting. `Mailer` fills it with the login name. */
  readonly nickname?: string | null;
  /** What the user types to sign in (see nameForMail). Absent in a mail that an earlier version queued. */
  readonly loginName?: string | null;
}

export interface OtpMail extends Recipient {
  readonly code: string;
  readonly expires: Date;
}

export interface ResetLinkMail extends Recipient {
  readonly link: string;
  readonly type: RequestType;
  readonly expires: Date;
  /** The user has passkeys, which a new password does not end. Absent in a mail that an earlier version queued. */
  readonly passkeys?: boolean;
}

export interface PasswordChangedMail extends Recipient {
  readonly ip: string;
  readonly at: Date;
}

export interface NewPasswordMail extends PasswordChangedMail {
  /** See ResetLinkMail. */
  readonly passkeys?: boolean;
}

export interface TotpChangedMail extends PasswordChangedMail {
  /** True when the user had another authenticator before. */
  readonly replaced: boolean;
}

export interface RecoveryCodeUsedMail extends PasswordChangedMail {
  /** How many codes are left. A mail never contains a recovery code. */
  readonly left: number;
}

export interface PasskeyChangedMail extends PasswordChangedMail {
  /** False when it was removed. */
  readonly added: boolean;
  /** An administrator removed it. The mail then shows no IP address, because it is not that of the owner. */
  readonly by?: 'administrator';
}

export interface PasswordExpiresMail extends Recipient {
  /** When the password expires. The mail is not sent later. */
  readonly expires: Date;
}

/** What somebody else changed. Each has its texts in `mail.accountChanged` of the language files. */
export type AccountChange = Exclude<keyof (typeof en)['mail']['accountChanged'], 'newEmail'>;

export interface AccountChangedMail extends Recipient {
  readonly change: AccountChange;
  readonly by: 'administrator' | 'directory';
  readonly at: Date;
  /** Only for `email`: the new address in its masked form. The former address gets this mail as well. */
  readonly newEmail?: string | null;
}

export interface NewSignInMail extends PasswordChangedMail {
  /** For example `Firefox, Windows`. Undefined for a browser without a known name. */
  readonly browser: string | undefined;
}

export interface TestMail extends Recipient {
  readonly at: Date;
}

export type QueuedMail =
  | ({ readonly kind: 'otp' } & OtpMail)
  | ({ readonly kind: 'reset-link' } & ResetLinkMail)
  | ({ readonly kind: 'password-changed' } & NewPasswordMail)
  | ({ readonly kind: 'totp-changed' } & TotpChangedMail)
  | ({ readonly kind: 'recovery-codes-made' } & PasswordChangedMail)
  | ({ readonly kind: 'recovery-code-used' } & RecoveryCodeUsedMail)
  | ({ readonly kind: 'passkey-changed' } & PasskeyChangedMail)
  | ({ readonly kind: 'password-expires' } & PasswordExpiresMail)
  | ({ readonly kind: 'account-changed' } & AccountChangedMail)
  | ({ readonly kind: 'new-sign-in' } & NewSignInMail)
  | ({ readonly kind: 'test' } & TestMail);

export type MailKind = QueuedMail['kind'];

export const mailPurpose = 'mail';
/**
 * The purpose of the kinds that version 1.0.0 does not know. A worker of 1.0.0 gives up a mail of an unknown kind, but gives
 * back one that it cannot open, as during a key rotation. So during a roll-out these mails wait for a replica of this version.
 */
export const laterMailPurpose = 'mail-1.1';
export const laterKinds: readonly MailKind[] = ['account-changed'];
const times = new Set(['expires', 'at']);

/** Encrypts a mail for the table. Codes and links are stored only in this form, and only until they are sent. */
export function sealMail(keys: KeyRing, mail: QueuedMail): string {
  return keys.seal(laterKinds.includes(mail.kind) ? laterMailPurpose : mailPurpose, JSON.stringify(mail));
}

/** Thrown when no key of this process decrypts the mail. During a key rotation another replica may have the key. */
export class MailNotReadable extends Error {
  override readonly name = 'MailNotReadable';

  constructor() {
    super('DATA_ENCRYPTION_KEY does not open the mail');
  }
}

/** @throws MailNotReadable */
export function openMail(keys: KeyRing, sealed: string): QueuedMail {
  const revive = (key: string, value: unknown) => (times.has(key) ? new Date(String(value)) : value);
  return JSON.parse(opened(keys, sealed), revive) as QueuedMail;
}

function opened(keys: KeyRing, sealed: string): string {
  try {
    return keys.openFromClient(laterMailPurpose, sealed) ?? keys.open(mailPurpose, sealed);
  } catch {
    throw new MailNotReadable();
  }
}
