import { Injectable, Logger } from '@nestjs/common';
import type { ClientInfo } from '../../../../shared/client-info';
import { DomainError } from '../../../../shared/errors/domain-error';
import { directoryUnavailable } from '../../../../shared/errors/error-catalogue';
import { identityKey } from '../../../../shared/identity-key';
import { isPlainAddress } from '../../../../shared/mail-address';
import { plainTextOf } from '../../../../shared/plain-text';
import { AuditTrail } from '../../../../audit/audit-trail';
import { Directory } from '../../../../directory/directory';
import type { DirectoryPerson } from '../../../../directory/person';
import { DirectorySettings } from '../../../../directory/ldap-settings';
import { Mailer } from '../../../../mail/mailer';
import { Database, type Transaction } from '../../../../platform/database/database';
import { PendingLogins } from '../../../../sessions/pending-login.repository';
import { DirectoryAccounts } from '../../../../users/directory-accounts';
import { isLoginName } from '../../../../users/user-accounts';
import type { Declaring, userFields } from '../../../../users/user-fields';
import type { User } from '../../../../users/user.entity';
import { UsersRepository } from '../../../../users/users.repository';
import { loginNameOf } from './entry-owners';

type Attribute = (typeof userFields)[Declaring<{ readonly directory: true }>]['wire'];

/** The sign-in that makes an account follow its entry. */
interface Occasion {
  readonly client: ClientInfo;
  /** The end of the time limit for questions to the directory. */
  readonly until: number;
  /** Why the account follows although its owner does not sign in. */
  readonly cause?: string;
}

/** Writes what an entry says into its bound account: login name, nickname and e-mail address (docs/spec/extensions.md#c). */
@Injectable()
export class EntryAttributes {
  private readonly logger = new Logger('directory');

  constructor(
    private readonly directory: Directory,
    private readonly accounts: DirectoryAccounts,
    private readonly users: UsersRepository,
    private readonly pendingLogins: PendingLogins,
    private readonly audit: AuditTrail,
    private readonly mailer: Mailer,
    private readonly database: Database,
    private readonly settings: DirectorySettings,
  ) {}

  /** @returns whether the row may differ from `user` now */
  async follow(user: User, person: DirectoryPerson, occasion: Occasion): Promise<boolean> {
    const renamed = await this.followName(user, person, occasion);
    return (await this.followValues(user, person, occasion)) || renamed;
  }

  /**
   * Frees the login name of an account whose entry has another name by now. The service account looks the entry up by
   * its id, so this writes nothing that the next login of its owner would not write.
   * @returns false when the entry is gone, still has the name, or its new name is not free
   * @throws DomainError LOGIN_503001
   */
  async release(holder: User, { client, until }: Occasion): Promise<boolean> {
    if (holder.directoryId === null) return false;
    const found = await this.directory.find({ id: holder.directoryId }, until);
    const name = found.kind === 'person' ? newNameOf(holder, found.person) : undefined;
    if (found.kind !== 'person' || name === undefined || hasName(found.person, holder)) return false;
    const occasion = { client, until, cause: 'another entry has the former login name' };
    if ((await this.rename(holder, holder.directoryId, name, occasion)) === 'taken') return false;
    await this.followValues(holder, found.person, occasion);
    return true;
  }

  /** A name that is not free stays as it is, and the next login tries again. */
  private async followName(user: User, person: DirectoryPerson, occasion: Occasion): Promise<boolean> {
    const name = newNameOf(user, person);
    if (person.id === null || name === undefined || (await this.isStillNamed(user, person, occasion))) return false;
    const result = await this.rename(user, person.id, name, occasion);
    if (result !== 'taken') return true;
    const holder = await this.users.findByLoginName(name);
    const freed = holder !== null && (await this.withinTime(() => this.release(holder, occasion), false));
    if (freed && (await this.rename(user, person.id, name, occasion)) !== 'taken') return true;
    this.warn('the login name in the directory belongs to another account', user, occasion);
    return false;
  }

  /** An account may have any name that leads to its entry: an operator may have made it with the e-mail address. */
  private async isStillNamed(user: User, person: DirectoryPerson, { until }: Occasion): Promise<boolean> {
    if (hasName(person, user)) return true;
    return this.withinTime(async () => {
      const found = await this.directory.find({ name: user.loginName }, until);
      return found.kind === 'several' || (found.kind === 'person' && found.person.id === person.id);
    }, true);
  }

  /** The login has succeeded already, so an outage that begins now must not refuse it. */
  private async withinTime<T>(question: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await question();
    } catch (error) {
      if (error instanceof DomainError && error.entry === directoryUnavailable) return otherwise;
      throw error;
    }
  }

  private rename(user: User, directoryId: string, name: string, occasion: Occasion): Promise<boolean | 'taken'> {
    return this.audited('login_name', user, occasion, (tx) => this.accounts.setLoginName(tx, user, directoryId, name));
  }

  /** A value that is missing or malformed changes nothing: it may only be hidden from the service account. */
  private async followValues(user: User, person: DirectoryPerson, occasion: Occasion): Promise<boolean> {
    if (!this.settings.ldap!.syncAttributes) return false;
    const nickname = nicknameOf(person);
    const email = emailOf(person);
    const changed = [
      nickname !== null &&
        nickname !== user.nickname &&
        (await this.audited('nickname', user, occasion, (tx) => this.accounts.setNickname(tx, user, nickname))) !==
          'taken',
      email !== null && email !== user.email && (await this.followEmail(user, email, occasion)),
    ];
    return changed.includes(true);
  }

  private async followEmail(user: User, email: string, occasion: Occasion): Promise<boolean> {
    const result = await this.audited('email', user, occasion, async (tx) => {
      const changed = await this.accounts.setEmail(tx, user, email);
      // The owner signs in, but it is somebody else who writes the directory.
      if (changed === true && identityKey(email) !== user.emailKey) {
        // A code that was mailed to the former address would prove the new one (`SecondFactor.acceptCode`).
        await this.pendingLogins.close(tx, user.uid);
        await this.mailer.queueEmailChanged(tx, user, email, { by: 'directory', language: occasion.client.language });
      }
      return changed;
    });
    if (result === 'taken') this.warn('the e-mail address in the directory belongs to another account', user, occasion);
    return result !== 'taken';
  }

  private warn(message: string, { uid: userId }: User, { client: { requestId } }: Occasion): void {
    this.logger.warn({ requestId, userId }, message);
  }

  /** @returns false when another login has changed the row first, so that it differs from `user` as well */
  private audited(
    attribute: Attribute,
    { uid: userId }: User,
    { client, cause }: Occasion,
    change: (tx: Transaction) => Promise<boolean | 'taken'>,
  ): Promise<boolean | 'taken'> {
    const detail = { attribute, ...(cause === undefined ? {} : { cause }) };
    return this.database.transaction(async (tx) => {
      const changed = await change(tx);
      if (changed === true) await this.audit.record(tx, 'USER_DIRECTORY_SYNCED', { userId, client, detail });
      return changed;
    });
  }
}

/** The name of the entry, if the account has another one and may have this one. */
function newNameOf(user: User, person: DirectoryPerson): string | undefined {
  const name = loginNameOf(person);
  return name !== undefined && isLoginName(name) && identityKey(name) !== user.loginNameKey ? name : undefined;
}

function hasName({ matchNames, email }: DirectoryPerson, { loginNameKey }: User): boolean {
  return [...matchNames, email ?? ''].some((name) => identityKey(name) === loginNameKey);
}

/** A name that the service refuses from others loses the refused characters, because it must not lock the person out. */
export function nicknameOf({ name }: DirectoryPerson): string | null {
  return plainTextOf((name ?? '').slice(0, 255)) || null;
}

export function emailOf({ email }: DirectoryPerson): string | null {
  return email !== null && isPlainAddress(email) ? email : null;
}
