import { Injectable } from '@nestjs/common';
import { UserAdministration } from '../../admin/user-administration';
import { type ProvisionedChange, UserChanges } from '../../admin/user-changes';
import { UserErasure } from '../../admin/user-erasure';
import { UserOffboarding } from '../../admin/user-offboarding';
import { UserSupport } from '../../admin/user-support';
import { Database, type Transaction } from '../../platform/database/database';
import type { Found } from '../../platform/database/search';
import type { Sql } from '../../platform/database/sql';
import type { NewUser } from '../../users/user-accounts';
import { languageFor } from '../../shared/languages';
import { usableAddress } from '../../shared/mail-address';
import { OrgUnitRepository } from '../../users/org-unit.repository';
import { ProvisionedUsers } from '../../users/provisioned-users';
import { type User, userStatus } from '../../users/user.entity';
import { UsersRepository } from '../../users/users.repository';
import type { Caller } from '../protocol/caller';
import { searchOf } from '../protocol/filter-search';
import { type ListQuery, orderOf, pageOf } from '../protocol/list-query';
import { operationsOf } from '../protocol/patch';
import { invalidValue, unknownResource } from '../protocol/scim-error';
import { assertVersion } from '../protocol/version';
import { ScimSignInPlace } from './sign-in-place';
import { draftOf, patched, type UserDraft } from './user-draft';
import { UserResources, type VersionedResource } from './user-resources';
import { searchedUserAttributes, userOrders } from './user-search';

/**
 * Users by SCIM (docs/spec/extensions.md#l). The changes are those of administrators: each is one transaction with the end of what
 * was issued to the user and the audit row, whose actor is the client.
 */
@Injectable()
export class ScimUsers {
  constructor(
    private readonly place: ScimSignInPlace,
    private readonly provisioned: ProvisionedUsers,
    private readonly users: UsersRepository,
    private readonly units: OrgUnitRepository,
    private readonly resources: UserResources,
    private readonly administration: UserAdministration,
    private readonly changes: UserChanges,
    private readonly offboarding: UserOffboarding,
    private readonly erasure: UserErasure,
    private readonly support: UserSupport,
    private readonly database: Database,
  ) {}

  async list({ authority, within }: Caller, query: ListQuery): Promise<Found<VersionedResource>> {
    const search = query.filter && searchOf(query.filter, searchedUserAttributes);
    const order = orderOf(query, userOrders, 'loginName');
    const page = pageOf(authority.actor.id, query);
    const { total, rows } = await this.provisioned.page(within, search, order, page);
    return { total, rows: await this.resources.ofAll(rows) };
  }

  /** @throws ScimError 404, also for a user of another tenant */
  async get(caller: Caller, id: string): Promise<VersionedResource> {
    return this.resources.of(await this.find(caller, id));
  }

  /**
   * Race: two creations of one userName or address. The unique keys decide, and the loser gets 409 `uniqueness`.
   * @throws AccountProblem; ScimError 503 while the identity provider of new users is missing or disabled
   */
  async create(caller: Caller, body: unknown): Promise<VersionedResource> {
    const { authority, tenantId } = caller;
    const user = await this.newUser(tenantId, draftOf(body));
    const { uid } = isInvitable(user)
      ? await this.administration.createInvited(authority, user, authority.actor.client.language)
      : await this.administration.create(authority, user);
    return this.get(caller, uid);
  }

  replace(caller: Caller, id: string, body: unknown, ifMatch?: string): Promise<VersionedResource> {
    return this.change(caller, id, (former) => draftOf(body, former), ifMatch);
  }

  patch(caller: Caller, id: string, body: unknown, ifMatch?: string): Promise<VersionedResource> {
    const operations = operationsOf(body);
    return this.change(caller, id, (former) => patched(former, operations), ifMatch);
  }

  /**
   * The person leaves, so that a receipt shows when everything ended. Then the user is erased, and is 404 from then on. A client
   * that got no answer sends the request again. Its `If-Match` is not compared then, because the user is not active any more.
   * Race: a change and a deletion with one `If-Match`, on any replica. The first one wins. The second one waits for its commit,
   * and gets 412, or 404 after the erasure.
   */
  async remove(caller: Caller, id: string, ifMatch?: string): Promise<void> {
    const { uid } = await this.find(caller, id);
    const isSame = async (user: User, tx: Transaction) =>
      assertVersion(ifMatch, (await this.resources.of(user, tx)).version);
    await this.offboarding.offboard(caller.authority, uid, 'scim', ifMatch === undefined ? undefined : isSame);
    await this.erasure.erase(caller.authority, uid);
  }

  /**
   * The row of the user is locked, then compared with `If-Match`, then changed.
   * Race: two changes with one `If-Match`, on any replica. The first one wins. The second one waits for its commit, sees another
   * version, and gets 412. Without the header both are made, one after the other, and each changes what it names.
   */
  private async change(
    caller: Caller,
    id: string,
    wanted: (former: UserDraft) => UserDraft,
    ifMatch: string | undefined,
  ): Promise<VersionedResource> {
    const { authority } = caller;
    await this.find(caller, id);
    await this.changes.provision(
      authority,
      id,
      async (user, tx) => {
        if (ifMatch !== undefined) assertVersion(ifMatch, (await this.resources.of(user, tx)).version);
        const former = await this.resources.draft(user, tx);
        return this.changeOf(tx, user, former, wanted(former));
      },
      // In the same transaction: after a crash between two, the second request of the client would find nothing to change, and
      // nobody would invite. A row of an older version can have a text that is no address: nothing is sent to it.
      async (change, user) => {
        // Whose password the old system knows can sign in.
        const signsIn = user.password !== null || user.legacyLogin;
        if (!isInvitable(user) || signsIn || usableAddress(user.email) === null) return;
        await this.support.steps.invite(change, user, languageFor(user.language, authority.actor.client.language));
      },
    );
    return this.resources.of(await this.find(caller, id));
  }

  private async find({ within }: Caller, id: string): Promise<User> {
    const user = await this.users.findWithin(within, id);
    // MariaDB ignores spaces at the end of a text.
    if (user?.uid !== id) throw unknownResource();
    return user;
  }

  private async newUser(tenantId: string, draft: UserDraft): Promise<NewUser> {
    return {
      ...{ loginName: nameOf(draft), email: draft.email, nickname: draft.displayName, externalId: draft.externalId },
      ...{ passwordHash: null, temporary: false, mfaType: 'email', isAdmin: false },
      ...(await this.place.ofNewUser()),
      tenantId,
      status: draft.active ? userStatus.enabled : userStatus.disabled,
      orgUnitId: await this.unitOf(this.database, tenantId, draft.department),
    };
  }

  /** @returns undefined when nothing differs */
  private async changeOf(
    sql: Sql,
    user: User,
    former: UserDraft,
    draft: UserDraft,
  ): Promise<ProvisionedChange | undefined> {
    const loginName = nameOf(draft);
    const unit =
      draft.department === former.department ? user.orgUnitId : await this.unitOf(sql, user.tenantId, draft.department);
    const change: ProvisionedChange = {
      ...(loginName.trim() === user.loginName ? {} : { loginName }),
      ...(draft.email === user.email ? {} : { email: draft.email }),
      ...(draft.displayName === user.nickname ? {} : { nickname: draft.displayName }),
      ...(draft.externalId === user.externalId ? {} : { externalId: draft.externalId }),
      ...(unit === user.orgUnitId ? {} : { orgUnitId: unit }),
      ...(draft.active === former.active && draft.leaves !== true
        ? {}
        : { status: draft.active ? userStatus.enabled : userStatus.disabled }),
    };
    return Object.keys(change).length === 0 ? undefined : change;
  }

  /** An unknown department is no unit. */
  private async unitOf(sql: Sql, tenantId: string, department: string | null): Promise<string | null> {
    if (department === null) return null;
    return (await this.units.named(sql, tenantId, department))?.id ?? null;
  }
}

function nameOf({ userName }: UserDraft): string {
  if (userName === null) throw invalidValue('userName is required');
  return userName;
}

const isInvitable = ({ provider, status, email }: Pick<NewUser, 'provider' | 'status' | 'email'>): boolean =>
  provider === 'password' && status === userStatus.enabled && email !== null;
