import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Group } from '../../groups/groups.repository';
import { GroupResources, versionOfGroup } from '../groups/group-resources';
import { ScimGroups } from '../groups/scim-groups';
import type { Caller } from '../protocol/caller';
import { type ListQuery, listQuery, type RawQuery } from '../protocol/list-query';
import { type Projection, projectionOf, type Resource } from '../protocol/projection';
import { ResourceUrls } from '../protocol/resource-urls';
import { schemas } from '../protocol/schemas';
import { ScimError, unknownResource } from '../protocol/scim-error';
import { names } from '../protocol/version';
import { ScimUsers } from '../users/scim-users';
import type { VersionedResource } from '../users/user-resources';
import { send } from './answers';
import { resourceTypes, schemaDescriptions, serviceProviderConfig } from './discovery';

export type Handler = (request: FastifyRequest, reply: FastifyReply, caller: Caller) => Promise<void>;
type Handlers = Readonly<Partial<Record<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', Handler>>>;

const queryOf = (request: FastifyRequest) => request.query as RawQuery;
const idOf = (request: FastifyRequest) => (request.params as { id: string }).id;
const ifMatchOf = (request: FastifyRequest) => request.headers['if-match'];

/** What each path and method answers (RFC 7644 §3.2). */
@Injectable()
export class ScimRoutes {
  readonly all: ReadonlyMap<string, Handlers>;

  constructor(
    private readonly users: ScimUsers,
    private readonly groups: ScimGroups,
    private readonly groupResources: GroupResources,
    private readonly urls: ResourceUrls,
  ) {
    const url = (resource: string, id?: string) => this.urls.of(resource, id);
    this.all = new Map<string, Handlers>([
      ['/Users', { GET: this.listUsers, POST: this.createUser }],
      ['/Users/:id', { GET: this.getUser, PUT: this.replaceUser, PATCH: this.patchUser, DELETE: this.removeUser }],
      ['/Groups', { GET: this.listGroups, POST: this.createGroup }],
      ['/Groups/:id', { GET: this.getGroup, PUT: this.replaceGroup, PATCH: this.patchGroup, DELETE: this.removeGroup }],
      ['/ServiceProviderConfig', { GET: discovered(() => serviceProviderConfig(url)) }],
      ...discoveredList('/ResourceTypes', () => resourceTypes(url)),
      ...discoveredList('/Schemas', () => schemaDescriptions(url)),
    ]);
  }

  private readonly listUsers: Handler = async (request, reply, caller) => {
    const [query, projection] = [listQuery(queryOf(request)), projectionOf(queryOf(request))];
    const { total, rows } = await this.users.list(caller, query);
    const resources = rows.map(({ resource }) => projection.of(resource));
    send(request, reply, 200, listed(query, total, resources));
  };

  private readonly getUser: Handler = async (request, reply, caller) => {
    const projection = projectionOf(queryOf(request));
    const user = await this.users.get(caller, idOf(request));
    if (isKnown(request, reply, user.version)) return;
    this.sendUser(request, reply, 200, user, projection);
  };

  private readonly createUser: Handler = async (request, reply, caller) => {
    const projection = projectionOf(queryOf(request));
    this.sendUser(request, reply, 201, await this.users.create(caller, request.body), projection);
  };

  private readonly replaceUser: Handler = async (request, reply, caller) => {
    const projection = projectionOf(queryOf(request));
    const user = await this.users.replace(caller, idOf(request), request.body, ifMatchOf(request));
    this.sendUser(request, reply, 200, user, projection);
  };

  private readonly patchUser: Handler = async (request, reply, caller) => {
    const projection = projectionOf(queryOf(request));
    const user = await this.users.patch(caller, idOf(request), request.body, ifMatchOf(request));
    this.sendUser(request, reply, 200, user, projection);
  };

  private readonly removeUser: Handler = async (request, reply, caller) => {
    await this.users.remove(caller, idOf(request), ifMatchOf(request));
    send(request, reply, 204);
  };

  private readonly listGroups: Handler = async (request, reply, caller) => {
    const [query, projection] = [listQuery(queryOf(request)), projectionOf(queryOf(request))];
    const { total, rows } = await this.groups.list(caller, query);
    const resources = await this.groupResources.ofAll(rows, projection);
    const shown = resources.map((resource) => projection.of(resource));
    send(request, reply, 200, listed(query, total, shown));
  };

  private readonly getGroup: Handler = async (request, reply, caller) => {
    const projection = projectionOf(queryOf(request));
    const group = await this.groups.get(caller, idOf(request));
    if (isKnown(request, reply, versionOfGroup(group.version))) return;
    await this.sendGroup(request, reply, 200, group, projection);
  };

  private readonly createGroup: Handler = async (request, reply, caller) => {
    const projection = projectionOf(queryOf(request));
    await this.sendGroup(request, reply, 201, await this.groups.create(caller, request.body), projection);
  };

  private readonly replaceGroup: Handler = async (request, reply, caller) => {
    const projection = projectionOf(queryOf(request));
    const group = await this.groups.replace(caller, idOf(request), request.body, ifMatchOf(request));
    await this.sendGroup(request, reply, 200, group, projection);
  };

  /** Entra ID wants no body, because a group can have many members. With `attributes` there is one (RFC 7644 §3.5.2). */
  private readonly patchGroup: Handler = async (request, reply, caller) => {
    const projection = projectionOf(queryOf(request));
    const group = await this.groups.patch(caller, idOf(request), request.body, ifMatchOf(request));
    if (queryOf(request).attributes !== undefined) return this.sendGroup(request, reply, 200, group, projection);
    void reply.header('etag', versionOfGroup(group.version));
    send(request, reply, 204);
  };

  private readonly removeGroup: Handler = async (request, reply, caller) => {
    await this.groups.remove(caller, idOf(request), ifMatchOf(request));
    send(request, reply, 204);
  };

  private sendUser(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    { resource, version }: VersionedResource,
    projection: Projection,
  ): void {
    if (status === 201) void reply.header('location', this.urls.of('Users', resource.id as string));
    void reply.header('etag', version);
    send(request, reply, status, projection.of(resource));
  }

  private async sendGroup(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    group: Group,
    projection: Projection,
  ): Promise<void> {
    const [resource] = await this.groupResources.ofAll([group], projection);
    if (status === 201) void reply.header('location', this.urls.of('Groups', group.id));
    void reply.header('etag', versionOfGroup(group.version));
    send(request, reply, status, projection.of(resource!));
  }
}

function listed({ startIndex }: ListQuery, totalResults: number, resources: readonly Resource[]) {
  return {
    ...{ schemas: [schemas.list], totalResults, startIndex, itemsPerPage: resources.length },
    Resources: resources,
  };
}

function isKnown(request: FastifyRequest, reply: FastifyReply, version: string): boolean {
  if (!names(request.headers['if-none-match'], version)) return false;
  void reply.header('etag', version);
  send(request, reply, 304);
  return true;
}

const discovered =
  (body: () => object): Handler =>
  (request, reply) => {
    send(request, reply, 200, body());
    return Promise.resolve();
  };

/** The list, and each of its members by its id. A filter is refused (RFC 7644 §4). */
function discoveredList(path: string, all: () => readonly (object & { readonly id: string })[]): [string, Handlers][] {
  const list: Handler = (request, reply) => {
    if (queryOf(request).filter !== undefined) throw new ScimError(403, undefined, 'this list has no filter');
    const resources = all();
    const page = { startIndex: 1, itemsPerPage: resources.length };
    send(request, reply, 200, {
      schemas: [schemas.list],
      totalResults: resources.length,
      ...page,
      Resources: resources,
    });
    return Promise.resolve();
  };
  const one: Handler = (request, reply) => {
    const found = all().find(({ id }) => id === idOf(request));
    if (found === undefined) throw unknownResource();
    send(request, reply, 200, found);
    return Promise.resolve();
  };
  return [
    [path, { GET: list }],
    [`${path}/:id`, { GET: one }],
  ];
}
