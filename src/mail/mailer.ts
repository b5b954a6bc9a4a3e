import { Injectable } from '@nestjs/common';
import { ServiceSettings } from '../platform/config/service-settings';
import { KeyRing } from '../platform/crypto/key-ring';
import type { Transaction } from '../platform/database/database';
import { Clock } from '../shared/clock';
import { type Language, languageFor } from '../shared/languages';
import { maskedAddress, usableAddress } from '../shared/mail-address';
import {
  type AccountChange,
  type AccountChangedMail,
  type NewPasswordMail,
  type NewSignInMail,
  type OtpMail,
  type PasskeyChangedMail,
  type PasswordChangedMail,
  type PasswordExpiresMail,
  type QueuedMail,
  type RecoveryCodeUsedMail,
  type ResetLinkMail,
  sealMail,
  type TotpChangedMail,
} from './outbox/mail-payload';
import { urgencyOf } from './outbox/mail-urgency';
import { MailWorker } from './outbox/mail-worker';
import { OutboxRows } from './outbox/outbox-mail.repository';

export type {
  AccountChange,
  OtpMail,
  PasswordChangedMail,
  RecoveryCodeUsedMail,
  ResetLinkMail,
  TotpChangedMail,
} from './outbox/mail-payload';

/**
 * A mail as callers give it. They cannot choose the greeting, which `nameForMail` makes of the login name. The user is not part
 * of the content: the column lets a deletion of the user find the mail.
 */
type Owned<Mail> = Mail extends unknown
  ? Omit<Mail, 'nickname' | 'loginName'> & { readonly userId: string; readonly loginName: string }
  : never;

/** Whose account somebody else has changed. */
export interface ChangedOwner {
  readonly uid: string;
  readonly loginName: string;
  readonly email: string | null;
  readonly language: Language | null;
}

export interface ForeignChange {
  readonly change: AccountChange;
  readonly by: AccountChangedMail['by'];
  /** Of the request that made the change. It is used when the language of the owner is unknown. */
  readonly language?: Language;
}

/** A notice that could not be sent within a day is dropped. */
const noticeSeconds = 24 * 3600;

/**
 * Queues mails as rows of the caller's transaction: a mail is sent soon after the commit and never after a rollback.
 * No method waits for a mail server or fails without one (docs/spec/service.md#6.2). Each mail goes to one stored
 * address.
 */
@Injectable()
export class Mailer {
  constructor(
    private readonly rows: OutboxRows,
    private readonly worker: MailWorker,
    private readonly keys: KeyRing,
    private readonly clock: Clock,
    private readonly settings: ServiceSettings,
  ) {}

  /** The code of the second factor. The mail is not sent after `expires`. */
  queueOtp(tx: Transaction, mail: Owned<OtpMail>): Promise<void> {
    return this.queue(tx, { kind: 'otp', ...mail }, mail.expires);
  }

  /**
   * The link to `/reset-password`, also for invitations. The type chooses the text. The mail is not sent after
   * `expires`.
   * @throws Error when the link does not start with `SYSTEM_URL`: a Host header must never choose the target of a link
   *   (docs/spec/attacks.md#w29).
   */
  queueResetLink(tx: Transaction, mail: Owned<ResetLinkMail>): Promise<void> {
    if (!mail.link.startsWith(`${this.settings.systemUrl}/`)) throw new Error('a mail link must start with SYSTEM_URL');
    return this.queue(tx, { kind: 'reset-link', ...mail }, mail.expires);
  }

  /** "Your password was changed": shows the time and the IP address, and contains no link. */
  queuePasswordChanged(tx: Transaction, mail: Owned<NewPasswordMail>): Promise<void> {
    return this.queue(tx, { kind: 'password-changed', ...mail }, this.clock.secondsFromNow(noticeSeconds));
  }

  /** "An authenticator app was added" or "was replaced". */
  queueTotpChanged(tx: Transaction, mail: Owned<TotpChangedMail>): Promise<void> {
    return this.queue(tx, { kind: 'totp-changed', ...mail }, this.clock.secondsFromNow(noticeSeconds));
  }

  /** "New recovery codes were made for your account": replaces the earlier codes. Contains no code. */
  queueRecoveryCodesMade(tx: Transaction, mail: Owned<PasswordChangedMail>): Promise<void> {
    return this.queue(tx, { kind: 'recovery-codes-made', ...mail }, this.clock.secondsFromNow(noticeSeconds));
  }

  /** "A recovery code was used": tells how many are left. Contains no code. */
  queueRecoveryCodeUsed(tx: Transaction, mail: Owned<RecoveryCodeUsedMail>): Promise<void> {
    return this.queue(tx, { kind: 'recovery-code-used', ...mail }, this.clock.secondsFromNow(noticeSeconds));
  }

  /** "A passkey was added" or "was removed". Contains no name of a passkey, because it is free text. */
  queuePasskeyChanged(tx: Transaction, mail: Owned<PasskeyChangedMail>): Promise<void> {
    return this.queue(tx, { kind: 'passkey-changed', ...mail }, this.clock.secondsFromNow(noticeSeconds));
  }

  /** "Your password expires soon". The mail is not sent after `expires`. */
  queuePasswordExpires(tx: Transaction, mail: Owned<PasswordExpiresMail>): Promise<void> {
    return this.queue(tx, { kind: 'password-expires', ...mail }, mail.expires);
  }

  /**
   * Tells the owner what somebody else has changed. Contains no link and no text that an administrator has written. An owner
   * without an address gets no mail.
   */
  async queueAccountChanged(tx: Transaction, owner: ChangedOwner, change: ForeignChange): Promise<void> {
    await this.queueTo(tx, owner.email, owner, change);
  }

  /**
   * Tells both addresses that the account has another one now. The former owner of a mailbox must not learn the new
   * address, so it is masked.
   * @param owner with the former address
   */
  async queueEmailChanged(
    tx: Transaction,
    owner: ChangedOwner,
    email: string | null,
    cause: Omit<ForeignChange, 'change'>,
  ): Promise<void> {
    const change = {
      ...cause,
      change: email === null ? 'emailRemoved' : 'email',
      newEmail: maskedAddress(email),
    } as const;
    await this.queueTo(tx, owner.email, owner, change);
    await this.queueTo(tx, email, owner, change);
  }

  /** "New sign-in to your account": shows the time, the browser and the IP address. */
  queueNewSignIn(tx: Transaction, mail: Owned<NewSignInMail>): Promise<void> {
    return this.queue(tx, { kind: 'new-sign-in', ...mail }, this.clock.secondsFromNow(noticeSeconds));
  }

  private async queueTo(
    tx: Transaction,
    address: string | null,
    { uid: userId, loginName, language }: ChangedOwner,
    { language: otherwise, ...change }: ForeignChange & Pick<AccountChangedMail, 'newEmail'>,
  ): Promise<void> {
    const to = usableAddress(address);
    if (to === null) return;
    await this.queue(
      tx,
      {
        ...{ kind: 'account-changed', userId, loginName, to, at: this.clock.now(), ...change },
        language: languageFor(language, otherwise),
      },
      this.clock.secondsFromNow(noticeSeconds),
    );
  }

  private async queue(
    tx: Transaction,
    { userId, loginName, ...rest }: Owned<QueuedMail>,
    expires: Date,
  ): Promise<void> {
    const name = nameForMail(loginName);
    // A worker of version 1.0.0 greets by `nickname`.
    const mail: QueuedMail = { ...rest, nickname: name, loginName: name };
    const row = { kind: mail.kind, urgency: urgencyOf(mail), payload: sealMail(this.keys, mail), expires, userId };
    await this.rows.insert(tx, row);
    this.worker.nudge();
  }
}

/**
 * The name by which each mail greets. An administrator, a file of users or a client of SCIM chooses the address and the names
 * of an account, and can know its password and sign in, so a nickname would carry any text to a stranger. A login name that
 * is no single word, or looks like an address of the web, is left out for the same reason.
 */
function nameForMail(loginName: string): string | null {
  const isWord = /^[\p{L}\p{M}\p{N}._@+'\\-]{1,64}$/u.test(loginName);
  return isWord && !/^www\./i.test(loginName) ? loginName : null;
}
