import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../shared/client-info';
import { DomainError } from '../../../shared/errors/domain-error';
import { externalAnswerRejected, userNotFound } from '../../../shared/errors/error-catalogue';
import { AuditTrail } from '../../../audit/audit-trail';
import { ExternalIdentities } from '../../../identity-providers/external-identities.repository';
import type { ExternalPerson, ForeseenOwner } from '../../../identity-providers/external-sign-ins.repository';
import { IdentityProviderChanges } from '../../../identity-providers/identity-provider-changes';
import type { IdentityProvider } from '../../../identity-providers/identity-provider.entity';
import { Database, type Transaction } from '../../../platform/database/database';
import { AccountProblem, UserAccounts } from '../../../users/user-accounts';
import { UserLocks } from '../../../users/user-locks';
import { type User, userStatus } from '../../../users/user.entity';
import { UsersRepository } from '../../../users/users.repository';
import { AccountRefused } from '../account-refused';

/** Why a person of a provider has no account here, as the audit says it. */
const reasons = {
  moved: 'the account of this person does not sign in at this provider any more',
  bound: 'the account with this external id belongs to another person of the provider',
  unknown: 'no account is meant for this person, and the provider makes none',
  name: 'the claims have no usable login name',
  domain: 'the address is missing, not verified, or of a domain that the provider does not list',
  taken: 'the login name or the e-mail address belongs to another account',
} as const;

/** Rolls a transaction back. */
class NotBound extends Error {}

/**
 * Tells whose account a person of a provider has (docs/spec/extensions.md#k). The pair of provider and `sub` leads into an
 * account, and nothing else does: whoever can write an address or a name at some provider must not become a user of this
 * service who is somebody else.
 */
@Injectable()
export class ExternalOwners {
  constructor(
    private readonly identities: ExternalIdentities,
    private readonly users: UsersRepository,
    private readonly locks: UserLocks,
    private readonly accounts: UserAccounts,
    private readonly audit: AuditTrail,
    private readonly database: Database,
    private readonly providers: IdentityProviderChanges,
  ) {}

  /** @throws DomainError LOGIN_404001, audited; LOGIN_401013 when the provider has gone meanwhile */
  async ownerOf(provider: IdentityProvider, sub: string, person: ExternalPerson, client: ClientInfo): Promise<User> {
    return (
      (await this.bound(provider, sub, client)) ??
      (await this.matched(provider, sub, person, client)) ??
      (await this.made(provider, sub, person, client))
    );
  }

  /** What `ownerOf` would do now, for an administrator who tries the provider. */
  async foreseen(provider: IdentityProvider, sub: string, person: ExternalPerson): Promise<ForeseenOwner> {
    const refused = (reason: keyof typeof reasons, userId: string | null = null) =>
      ({ outcome: 'refused', userId, reason: reasons[reason] }) as const;
    const identity = await this.identities.find(provider.id, sub);
    if (identity !== null) {
      const { userId } = identity;
      const user = await this.users.findByUid(userId);
      if (user === null || !belongsTo(user, provider)) return refused('moved', userId);
      return { outcome: 'signs_in', userId, reason: null };
    }
    const { externalId } = person;
    const meant = externalId === null ? undefined : await this.users.findByExternalId(provider.id, externalId);
    if (meant !== undefined) {
      if ((await this.identities.ofUser(meant.uid)) !== null) return refused('bound', meant.uid);
      return { outcome: 'binds', userId: meant.uid, reason: null };
    }
    const missing = missingFor(provider, person);
    if (missing !== undefined) return refused(missing);
    const other = await this.namedBy(person);
    return other === null ? { outcome: 'creates', userId: null, reason: null } : refused('taken', other.uid);
  }

  /** @returns undefined for a person who has not signed in yet */
  async bound(provider: IdentityProvider, sub: string, client: ClientInfo): Promise<User | undefined> {
    const identity = await this.identities.find(provider.id, sub);
    if (identity === null) return undefined;
    const user = await this.users.findByUid(identity.userId);
    return user !== null && belongsTo(user, provider) ? user : this.refuse('moved', provider, user, client);
  }

  /**
   * An account that was made for this person before: by SCIM, an import or an administrator.
   * Races: two first sign-ins of one `sub`, and an administrator who moves the account. The row of the user is locked, and the
   * unique keys of the binding decide. Whoever is late reads whom the pair names now.
   */
  private async matched(
    provider: IdentityProvider,
    sub: string,
    { externalId }: ExternalPerson,
    client: ClientInfo,
  ): Promise<User | undefined> {
    const found = externalId === null ? undefined : await this.users.findByExternalId(provider.id, externalId);
    if (found === undefined) return undefined;
    const isBound = await this.database.transaction(async (tx) => {
      if (!(await this.locks.holdWithin(tx, {}, found.uid))) return false;
      const now = await this.users.findWithin({}, found.uid, tx);
      if (now === null || !belongsTo(now, provider) || now.externalId !== externalId) return false;
      return this.bind(tx, provider, sub, now, client);
    });
    return isBound
      ? found
      : ((await this.bound(provider, sub, client)) ?? this.refuse('bound', provider, found, client));
  }

  /**
   * Races for the unique keys of the login name, the address and the binding: two first sign-ins of one person, two people with
   * one name, an administrator who creates such an account. The loser makes nothing, and reads whom the pair names now.
   */
  private async made(
    provider: IdentityProvider,
    sub: string,
    person: ExternalPerson,
    client: ClientInfo,
  ): Promise<User> {
    const { loginName, email, nickname, externalId } = person;
    const missing = missingFor(provider, person);
    if (missing !== undefined || loginName === null || email === null) {
      return this.refuse(missing ?? 'domain', provider, await this.namedBy(person), client);
    }
    try {
      return await this.database.transaction(async (tx) => {
        // Races with an administrator who deletes the provider or changes its issuer: see IdentityProviderChanges.hold.
        if ((await this.providers.hold(tx, provider.id))?.issuer !== provider.issuer) {
          throw new DomainError(externalAnswerRejected);
        }
        // Some providers let people choose the claim that becomes the login name.
        await this.accounts.assertNoAddressOfOthers(tx, loginName);
        const user = await this.accounts.create(tx, {
          ...{ loginName, email, nickname, externalId, tenantId: provider.tenantId, orgUnitId: null },
          ...{ provider: 'oidc', identityProviderId: provider.id, passwordHash: null, temporary: false },
          ...{ status: userStatus.enabled, mfaType: 'email', isAdmin: false },
        });
        if (!(await this.bind(tx, provider, sub, user, client))) throw new NotBound();
        const detail = { provider: 'oidc', identity_provider: provider.id };
        await this.audit.record(tx, 'USER_PROVISIONED', { userId: user.uid, client, detail });
        return user;
      });
    } catch (error) {
      if (!(error instanceof AccountProblem || error instanceof NotBound)) throw error;
      const winner = await this.bound(provider, sub, client);
      if (winner !== undefined) return winner;
      return this.refuse('taken', provider, await this.namedBy(person), client);
    }
  }

  /** The account whose login name or address the claims have. */
  private async namedBy({ loginName, email }: ExternalPerson): Promise<User | null> {
    const named = loginName === null ? null : await this.users.findSigningIn(loginName);
    return named ?? (email === null ? null : this.users.findByEmail(email));
  }

  private async bind(
    tx: Transaction,
    { id }: IdentityProvider,
    sub: string,
    { uid: userId }: User,
    client: ClientInfo,
  ): Promise<boolean> {
    if (!(await this.identities.bind(tx, id, sub, userId))) return false;
    await this.audit.record(tx, 'USER_EXTERNAL_BOUND', { userId, client, detail: { identity_provider: id } });
    return true;
  }

  private async refuse(
    reason: keyof typeof reasons,
    { id }: IdentityProvider,
    user: User | null,
    client: ClientInfo,
  ): Promise<never> {
    const detail = { identity_provider: id, reason: reasons[reason] };
    await this.audit.record(this.database, 'USER_EXTERNAL_REFUSED', { userId: user?.uid, client, detail });
    throw new AccountRefused(new DomainError(userNotFound), user);
  }
}

/** A deleted user keeps the provider, so the deletion is compared as well. */
export const belongsTo = (user: User, { id }: Pick<IdentityProvider, 'id'>): boolean =>
  user.provider === 'oidc' && user.identityProviderId === id && user.deletedAt === null;

const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase();

/** Why the provider makes no account for this person. */
function missingFor(
  { jit, domains }: IdentityProvider,
  { loginName, email }: ExternalPerson,
): 'unknown' | 'name' | 'domain' | undefined {
  if (!jit) return 'unknown';
  if (loginName === null) return 'name';
  return email === null || !domains.includes(domainOf(email)) ? 'domain' : undefined;
}
