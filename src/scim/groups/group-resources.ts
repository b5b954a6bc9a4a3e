import { Injectable } from '@nestjs/common';
import type { Group } from '../../groups/groups.repository';
import { ProvisionedGroups } from '../../groups/provisioned-groups';
import type { Projection, Resource } from '../protocol/projection';
import { ResourceUrls } from '../protocol/resource-urls';
import { schemas } from '../protocol/schemas';
import { ScimError } from '../protocol/scim-error';

/** The groups of one answer have so many members together: about 15 MB of JSON. */
const mostMembers = 100_000;

/** Groups as clients of SCIM see them (RFC 7643 §4.2). */
@Injectable()
export class GroupResources {
  constructor(
    private readonly groups: ProvisionedGroups,
    private readonly urls: ResourceUrls,
  ) {}

  /** One statement for the members of all of them, and none where the answer has no members. @throws ScimError `tooMany` */
  async ofAll(groups: readonly Group[], projection: Projection): Promise<Resource[]> {
    if (!projection.has('members')) return groups.map((group) => this.resource(group));
    const members = await this.groups.membersOf(
      groups.map(({ id }) => id),
      mostMembers,
    );
    if (members === undefined) {
      throw new ScimError(400, 'tooMany', `more than ${mostMembers} members: use excludedAttributes=members`);
    }
    return groups.map((group) => ({
      ...this.resource(group),
      members: (members.get(group.id) ?? []).map(this.member),
    }));
  }

  private readonly member = (uid: string) => ({ value: uid, $ref: this.urls.of('Users', uid), type: 'User' });

  private resource({ id, name, externalId, createdAt, changedAt, version }: Group): Resource {
    return {
      schemas: [schemas.group],
      id,
      ...(externalId === null ? {} : { externalId }),
      displayName: name,
      meta: {
        ...{ resourceType: 'Group', created: createdAt.toISOString(), lastModified: changedAt.toISOString() },
        ...{ location: this.urls.of('Groups', id), version: versionOfGroup(version) },
      },
    };
  }
}

/** Each write of the group and of its members has a number of its own. */
export const versionOfGroup = (version: number): string => `W/"${version}"`;
