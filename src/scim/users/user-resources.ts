import { Injectable } from '@nestjs/common';
import type { Sql } from '../../platform/database/sql';
import { GroupMembers, type GroupOfUser } from '../../groups/group-members';
import { OrgUnitRepository } from '../../users/org-unit.repository';
import type { ProvisionedUser } from '../../users/provisioned-users';
import { type User, userStatus } from '../../users/user.entity';
import type { Resource } from '../protocol/projection';
import { ResourceUrls } from '../protocol/resource-urls';
import { schemas } from '../protocol/schemas';
import { versionOf } from '../protocol/version';
import type { UserDraft } from './user-draft';

export interface VersionedResource {
  readonly resource: Resource;
  readonly version: string;
}

/** Users as clients of SCIM see them (RFC 7643 §4.1). No secret is among their attributes. */
@Injectable()
export class UserResources {
  constructor(
    private readonly groups: GroupMembers,
    private readonly units: OrgUnitRepository,
    private readonly urls: ResourceUrls,
  ) {}

  /** At most two statements for all of them. A user who is in no group is not looked for in any, if the user was read with `inGroups`. */
  async ofAll(users: readonly ProvisionedUser[], sql?: Sql): Promise<VersionedResource[]> {
    const members = users.filter(({ inGroups }) => inGroups !== false);
    const groups = await this.groups.groupsOfAll(members, sql);
    const units = await this.units.names(
      users.flatMap(({ orgUnitId }) => orgUnitId ?? []),
      sql,
    );
    return users.map((user) =>
      this.resource(user, draftOfUser(user, units.get(user.orgUnitId ?? '') ?? null), groups.get(user.uid) ?? []),
    );
  }

  /** @param sql a transaction to read in */
  async of(user: ProvisionedUser, sql?: Sql): Promise<VersionedResource> {
    return (await this.ofAll([user], sql))[0]!;
  }

  async draft({ orgUnitId, ...user }: User, sql?: Sql): Promise<UserDraft> {
    const unit = orgUnitId === null ? undefined : (await this.units.names([orgUnitId], sql)).get(orgUnitId);
    return draftOfUser(user, unit ?? null);
  }

  private resource(user: ProvisionedUser, draft: UserDraft, groups: readonly GroupOfUser[]): VersionedResource {
    const { department, email, externalId, displayName } = draft;
    const attributes = {
      schemas: [schemas.user, ...(department === null ? [] : [schemas.enterprise])],
      id: user.uid,
      ...(externalId === null ? {} : { externalId }),
      userName: user.loginName,
      ...(displayName === null ? {} : { displayName }),
      active: draft.active,
      ...(email === null ? {} : { emails: [{ value: email, type: 'work', primary: true }] }),
      groups: groups.map(({ id, name }) => ({
        ...{ value: id, $ref: this.urls.of('Groups', id), display: name, type: 'direct' },
      })),
      ...(department === null ? {} : { [schemas.enterprise]: { department } }),
    };
    const version = versionOf(attributes);
    const location = this.urls.of('Users', user.uid);
    const meta = { resourceType: 'User', created: user.createdAt.toISOString(), location, version };
    return { resource: { ...attributes, meta }, version };
  }
}

const draftOfUser = (
  user: Pick<User, 'loginName' | 'externalId' | 'nickname' | 'status' | 'email'>,
  department: string | null,
): UserDraft => ({
  ...{ userName: user.loginName, externalId: user.externalId, displayName: user.nickname },
  ...{ active: user.status === userStatus.enabled, email: user.email, department },
});
