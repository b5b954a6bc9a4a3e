import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../../shared/client-info';
import { identityKey } from '../../../../shared/identity-key';
import { isPlainAddress } from '../../../../shared/mail-address';
import { AuditTrail } from '../../../../audit/audit-trail';
import { AppConfig } from '../../../../platform/config/app-config';
import { Database } from '../../../../platform/database/database';
import { rootTenant } from '../../../../platform/settings/system-settings';
import { AccountProblem, type NewUser, UserAccounts } from '../../../../users/user-accounts';
import { type User, userStatus } from '../../../../users/user.entity';
import { UsersRepository } from '../../../../users/users.repository';
import type { DirectoryEntry } from '../../../../directory/verdict';

/** Creates the account of a user whose credential the directory has accepted (docs/spec/decisions.md#7). */
@Injectable()
export class Provisioning {
  constructor(
    private readonly accounts: UserAccounts,
    private readonly users: UsersRepository,
    private readonly audit: AuditTrail,
    private readonly database: Database,
    private readonly config: AppConfig,
  ) {}

  /**
   * The login name comes from the directory, never from the typed text. An existing account or e-mail address is never
   * taken over: otherwise a person who can write a colleague's address into an entry could log in as the colleague. Two
   * first logins of one user race for the unique key of the login name. The loser reads the winner's row and uses it.
   * @returns null when the account was refused; the audit trail says why
   */
  async accountOf(entry: DirectoryEntry, nameKey: string, client: ClientInfo): Promise<User | null> {
    const user = this.newUser(entry);
    if (user === undefined || identityKey(user.loginName) !== nameKey) {
      return this.refuse(
        'the directory entry must have exactly one login name, the one that was typed',
        undefined,
        client,
      );
    }
    try {
      return await this.database.transaction(async (tx) => {
        const made = await this.accounts.create(tx, user);
        await this.audit.record(tx, 'USER_PROVISIONED', { userId: made.uid, client, detail: { provider: 'ldap' } });
        return made;
      });
    } catch (error) {
      if (!(error instanceof AccountProblem)) throw error;
      const namesake = await this.users.findByLoginName(user.loginName);
      if (namesake?.provider === 'ldap') return namesake;
      const conflicting = namesake ?? (user.email === null ? null : await this.users.findByEmail(user.email));
      return this.refuse(namesake ? 'the login name is taken' : error.message, conflicting?.uid, client);
    }
  }

  private newUser(entry: DirectoryEntry): NewUser | undefined {
    const { attributes } = this.config.ldap!;
    const names = valuesOf(entry, attributes.login);
    const email = valuesOf(entry, attributes.email)[0] ?? '';
    if (names.length !== 1 || names[0] === undefined) return undefined;
    return {
      loginName: names[0],
      email: isPlainAddress(email) ? email : null,
      nickname: valuesOf(entry, attributes.name)[0]?.slice(0, 255) ?? null,
      passwordHash: null,
      temporary: false,
      status: userStatus.enabled,
      mfaType: 'email',
      provider: 'ldap',
      isAdmin: false,
      tenantId: rootTenant,
      orgUnitId: null,
    };
  }

  private async refuse(reason: string, userId: string | undefined, client: ClientInfo): Promise<null> {
    await this.audit.record(this.database, 'USER_PROVISIONING_REFUSED', { userId, client, detail: { reason } });
    return null;
  }
}

/** Returns the values of an attribute. Attribute names are case-insensitive (RFC 4512 §2.5). */
function valuesOf(entry: DirectoryEntry, attribute: string): string[] {
  const name = Object.keys(entry).find((key) => key.toLowerCase() === attribute.toLowerCase());
  return [name === undefined ? [] : entry[name]].flat().filter((value) => typeof value === 'string');
}
