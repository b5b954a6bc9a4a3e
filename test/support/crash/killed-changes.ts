import { createHash, randomUUID } from 'node:crypto';
import { compare } from 'bcryptjs';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { EventReceivers } from '../../../src/events/event-receivers';
import { ServiceClients } from '../../../src/introspection/service-client.repository';
import { Database } from '../../../src/platform/database/database';
import type { User } from '../../../src/users/user.entity';
import { givenCaller, tokenOf } from '../admin';
import { password, type TestService } from '../app';
import { webhookSecret } from '../events/webhook-receiver';
import type { HostileProvider } from '../hostile-provider';
import { givenIdentityProvider } from '../identity-providers';

export interface World {
  /** A service on the same database that nobody kills. */
  readonly service: TestService;
  readonly sql: Connection;
  /** Where people sign in elsewhere. */
  readonly provider: HostileProvider;
}

type State = Readonly<Record<string, unknown>> & { readonly audit: string; readonly events: string };

/** One change that is about to be made, on rows of its own. */
export interface Attempt {
  /** @returns the status or the error code of the answer */
  send(url: string): Promise<string>;
  /** What the database says about the change, without ids and times. */
  state(): Promise<State>;
  /** What the caller does who got no answer. Default: `send`. */
  again?(url: string): Promise<string>;
}

export interface KilledChange {
  readonly name: string;
  given(world: World): Promise<Attempt>;
  readonly answer: string;
  /** The audit rows after each commit. */
  readonly stages: readonly string[];
  /** The answer to a second request when the first one was made as a whole. Default: that of the first one. */
  readonly again?: string;
  /** A second request makes the change once more. */
  readonly repeats?: true;
  /** So many can be held at once, because they lock the same row, or because the service admits no more. */
  readonly atOnce?: number;
}

type Request = readonly [method: string, path: string, body?: object | string];
type More = Partial<Pick<KilledChange, 'answer' | 'again' | 'repeats' | 'atOnce'>>;

async function ask(url: string, bearer: string, [method, path, body]: Request): Promise<string> {
  const json = path.startsWith('/scim/') ? 'application/scim+json' : 'application/json';
  const type: Record<string, string> =
    body === undefined ? {} : { 'content-type': typeof body === 'string' ? 'text/csv' : json };
  const { status } = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, ...type },
    body: typeof body === 'object' ? JSON.stringify(body) : body,
  });
  return String(status);
}

export async function rowsOf({ sql }: World, statement: string, values: unknown[]): Promise<Record<string, any>[]> {
  return (await sql.query<RowDataPacket[]>(statement, values))[0];
}

/** The audit rows and the events of what somebody has done, or of what happened to a user. */
async function logsOf(world: World, id: string): Promise<Pick<State, 'audit' | 'events'>> {
  const eventsOf = (table: string) =>
    `(SELECT GROUP_CONCAT(JSON_VALUE(payload, '$.data.event') ORDER BY id SEPARATOR ' ') FROM ${table}
      WHERE ? IN (JSON_VALUE(payload, '$.data.actor_id'), JSON_VALUE(payload, '$.data.user_id')))`;
  const [found] = await rowsOf(
    world,
    `SELECT (SELECT GROUP_CONCAT(event ORDER BY id SEPARATOR ' ') FROM audit_logs WHERE ? IN (actor_id, user_id)) AS audit,
       ${eventsOf('event_outbox')} AS events, ${eventsOf('receiver_events')} AS received`,
    [id, id, id],
  );
  const { audit, events, received } = found!;
  // The events of an erased user go after the commit, or with the next `purge` when the process was killed in between.
  const kept = audit?.endsWith('USER_DELETED') ? [events, 'USER_DELETED'] : [events];
  if (!kept.includes(received)) throw new Error(`the webhook has ${events}, and further receivers have ${received}`);
  return { audit: audit ?? '', events: events ?? '' };
}

/** @param name of the user, or what its login name ends with */
const usersOf = (world: World, name: string) =>
  rowsOf(
    world,
    `SELECT u.status, u.deleted_at IS NOT NULL AS deleted, u.email IS NOT NULL AS email, u.nickname,
       u.login_failed_count AS failed, u.credential_version AS version, u.provider,
       u.identity_provider_id IS NOT NULL AS elsewhere, u.external_id IS NOT NULL AS external,
       (SELECT GROUP_CONCAT(m.kind ORDER BY m.kind) FROM mail_outbox m WHERE m.user_id = u.uid) AS mails,
       (SELECT GROUP_CONCAT(r.type, ':', r.status) FROM user_change_password_request r WHERE r.user_id = u.uid) AS links,
       (SELECT GROUP_CONCAT(o.via) FROM offboardings o WHERE o.user_id = u.uid) AS offboardings,
       (SELECT COUNT(*) FROM external_identities e WHERE e.user_id = u.uid) AS identities,
       (SELECT COUNT(*) FROM user_group_members g WHERE g.user_id = u.uid) AS memberships
     FROM users u WHERE u.login_name LIKE ? OR u.uid = ? ORDER BY u.login_name = u.uid, u.login_name`,
    [`%${name}`, name],
  );

async function givenUser({ sql }: World, more: Record<string, unknown> = {}): Promise<string> {
  const uid = randomUUID();
  const names = { login_name: uid, login_name_key: uid, email: `${uid}@example.com`, email_key: `${uid}@example.com` };
  const row = { uid, ...names, status: 1, login_failed_count: 2, tenant_id: 'root', created_at: new Date(), ...more };
  await sql.query('INSERT INTO users SET ?', [row]);
  return uid;
}

/** A change by an administrator. @param prepare returns the request, and what it is about */
function ofAdministrator(
  name: string,
  stages: readonly string[],
  prepare: (world: World) => Promise<{ request: Request; about: () => Promise<unknown> }>,
  more: More = {},
): KilledChange {
  const given = async (world: World): Promise<Attempt> => {
    // Each change locks the row of its administrator, so each has one of its own.
    const { user, bearer } = await givenCaller(world.service, { isAdmin: true });
    const { request, about } = await prepare(world);
    return {
      send: (url) => ask(url, bearer, request),
      state: async () => ({ about: await about(), ...(await logsOf(world, user.uid)) }),
    };
  };
  return { name, answer: '200', stages, ...more, given };
}

/** @param path after that of the user */
function ofUser(method: string, path: string, body: object | undefined, event: string, more?: More): KilledChange {
  const name = `${method} /admin/users/{uid}${path} ${body === undefined ? '' : JSON.stringify(body)}`;
  const prepare = async (world: World) => {
    const uid = await givenUser(world);
    const request: Request = [method, `/admin/users/${uid}${path}`, body];
    return { request, about: () => usersOf(world, uid) };
  };
  return ofAdministrator(name, ['', event], prepare, more);
}

/** A receiver that is paused: the service sends it nothing, and so does not change its row. */
async function givenReceiver({ service }: World): Promise<string> {
  const receivers = service.app.get(EventReceivers);
  const id = `r-${randomUUID().slice(0, 18)}`;
  const row = { url: 'https://127.0.0.1:9/events', format: 'native' as const, types: [], tenants: [], audience: null };
  const position = await receivers.newest();
  await service.app
    .get(Database)
    .transaction((tx) => receivers.insert(tx, { ...row, id, enabled: false, secret: webhookSecret, position }));
  return id;
}

function ofReceiver(method: string, path: string, body: object | undefined, event: string, more?: More): KilledChange {
  const prepare = async (world: World) => {
    const isNew = method === 'POST' && path === '';
    const id = isNew ? `r-${randomUUID().slice(0, 18)}` : await givenReceiver(world);
    const request: Request = isNew
      ? [method, '/admin/event-receivers', { id, ...body }]
      : [method, `/admin/event-receivers/${id}${path}`, body];
    // The count of replays begins at a random number.
    const [was] = await rowsOf(world, 'SELECT replays FROM event_receivers WHERE id = ?', [id]);
    const replays = was === undefined ? '' : `replays - ${Number(was.replays)} AS replays,`;
    const select = `SELECT url, status, ${replays} secret IS NOT NULL AS secret FROM event_receivers WHERE id = ?`;
    return { request, about: () => rowsOf(world, select, [id]) };
  };
  return ofAdministrator(`${method} /admin/event-receivers ${path}`, ['', event], prepare, more);
}

interface Provisioned {
  readonly uid: string;
  /** The id of a group of one member, another user. */
  readonly group: string;
}

/** @param request what the client sends; the login name of the user is its uid */
function ofScim(
  name: string,
  stages: readonly string[],
  request: (about: Provisioned) => Request,
  { user, ...more }: More & { user?: Record<string, unknown> } = {},
): KilledChange {
  const given = async (world: World): Promise<Attempt> => {
    const { id, token } = await world.service.app.get(ServiceClients).createScim(name, {});
    const [uid, group, member] = [await givenUser(world, user), randomUUID(), await givenUser(world)];
    const { sql } = world;
    const named = { name: `group ${uid}`, name_key: `group ${uid}`, source: 'scim', tenant_id: 'root' };
    await sql.query('INSERT INTO user_groups SET ?', [
      { id: group, ...named, version: 0, created_at: new Date(), changed_at: new Date() },
    ]);
    await sql.query('INSERT INTO user_group_members SET ?', [
      { group_id: group, user_id: member, added_at: new Date() },
    ]);
    await sql.query('UPDATE users SET in_groups = 1 WHERE uid = ?', [member]);
    const given = request({ uid, group });
    const groups = `SELECT g.external_id IS NOT NULL AS external,
      (SELECT COUNT(*) FROM user_group_members m WHERE m.group_id = g.id) AS members
      FROM user_groups g WHERE g.name LIKE ? ORDER BY g.name`;
    return {
      send: (url) => ask(url, token, given),
      state: async () => ({
        users: await usersOf(world, uid),
        groups: await rowsOf(world, groups, [`%${uid}`]),
        ...(await logsOf(world, id)),
      }),
    };
  };
  return { name: `SCIM ${name}`, answer: '200', stages, ...more, given };
}

const scimUser = (name: string, more: object = {}) => ({
  ...{ userName: name, emails: [{ value: `${name}@example.com` }] },
  ...more,
});

/** A person comes back from an identity provider for the first time. */
export async function arrived({ service, sql, provider }: World, sub: string, id: string) {
  const { status, body, headers } = await service.post(`/login/external/${id}`, {});
  if (status !== 200) throw new Error(`the beginning answered ${status}`);
  const claims = { preferred_username: sub, email: `${sub}@acme.example`, employee: sub };
  const query = provider.signIn(String(body.data.redirect_to), { sub, ...claims });
  const cookie = String(headers['set-cookie']).split(';')[0]!;
  // It waits for a kill and a start before it is used.
  const later =
    'UPDATE external_sign_ins SET expires = UTC_TIMESTAMP() + INTERVAL 1 DAY WHERE identity_provider_id = ?';
  await sql.query(later, [id]);
  return {
    cookie,
    /** @returns the code for the pages, or the error */
    callback: async (url: string) => {
      const path = `/login/external/${id}/callback?${new URLSearchParams(query).toString()}`;
      const answer = await fetch(url + path, { headers: { cookie }, redirect: 'manual' });
      const { searchParams } = new URL(answer.headers.get('location') ?? `http://none/?error=${answer.status}`);
      return { code: searchParams.get('external') ?? undefined, error: searchParams.get('error') };
    },
  };
}

export async function givenProvider({ service, provider: { issuer, clientId, clientSecret } }: World): Promise<string> {
  const client = { issuer, clientId, secret: clientSecret };
  const who = { domains: ['acme.example'], jit: true, matchClaim: 'employee' };
  return (await givenIdentityProvider(service, { id: `p-${randomUUID().slice(0, 18)}`, ...client, ...who })).id;
}

/** @param isKnown whether the account was made before, for this person */
function firstSignIn(name: string, events: string, isKnown: boolean): KilledChange {
  const given = async (world: World): Promise<Attempt> => {
    // Each sign-in locks the row of its provider.
    const id = await givenProvider(world);
    const sub = isKnown
      ? await givenUser(world, { provider: 'oidc', identity_provider_id: id })
      : `new-${randomUUID()}`;
    if (isKnown) await world.sql.query('UPDATE users SET external_id = uid WHERE uid = ?', [sub]);
    const browser = await arrived(world, sub, id);
    const outcome = async (url: string, { callback } = browser) => {
      const { code, error } = await callback(url);
      return code === undefined ? String(error) : 'signed in';
    };
    return {
      send: outcome,
      again: async (url) => {
        const second = await outcome(url);
        // The answer of the provider is used once. Whoever has lost the page begins again.
        return second === 'LOGIN_401013' ? outcome(url, await arrived(world, sub, id)) : second;
      },
      state: async () => {
        const [user] = await rowsOf(world, 'SELECT uid FROM users WHERE login_name = ?', [sub]);
        return { users: await usersOf(world, sub), ...(await logsOf(world, String(user?.uid))) };
      },
    };
  };
  return { name, answer: 'signed in', stages: ['', events], given };
}

const newPassword = { password: 'Another-Horse-8', confirm_password: 'Another-Horse-8' };

/** A user with a password and two sessions, and a request that changes the password. */
function ofPassword(name: string, prepare: (world: World, user: User) => Promise<Request> | Request): KilledChange {
  const given = async (world: World): Promise<Attempt> => {
    const { service } = world;
    const user = await service.givenUser(randomUUID());
    const tokens = [await tokenOf(service, user), await tokenOf(service, user)];
    const request = await prepare(world, user);
    const rows = `SELECT u.password AS hash, u.credential_version AS version,
        (SELECT GROUP_CONCAT(l.type, ':', l.password = u.password) FROM user_change_pwd_logs l WHERE l.user_id = u.uid) AS history,
        (SELECT GROUP_CONCAT(r.status) FROM user_change_password_request r WHERE r.user_id = u.uid) AS links,
        (SELECT GROUP_CONCAT(t.is_revoked, ':', t.credential_version ORDER BY t.credential_version, t.is_revoked)
           FROM login_tokens t WHERE t.user_identity = u.uid) AS tokens
      FROM users u WHERE u.uid = ?`;
    /** The row, with the passwords that fit instead of their hash. */
    const fitting = async () => {
      const [{ hash, ...row } = { hash: '' }] = await rowsOf(world, rows, [user.uid]);
      const fits = (text: string) => compare(text, String(hash));
      return { row, former: await fits(password), changed: await fits(newPassword.password) };
    };
    const statusOf = async (bearer: string) => (await service.get('/user/me', { bearer })).status;
    return {
      send: (url) => ask(url, tokens[0]!, request),
      state: async () => ({
        ...(await fitting()),
        formerTokens: await Promise.all(tokens.map(statusOf)),
        ...(await logsOf(world, user.uid)),
      }),
    };
  };
  return { name, answer: '200', stages: ['', 'USER_PASSWORD_CHANGED'], again: '401', given };
}

const bound = 'USER_EXTERNAL_BOUND';
const left = 'USER_STATUS_CHANGED USER_OFFBOARDING_STARTED';

/** Requests that each change accounts, passwords, groups or receivers. */
export const changes: readonly KilledChange[] = [
  ofPassword('an own change of the password', () => {
    return ['POST', '/user/change-password', { current_password: password, ...newPassword }];
  }),
  ofPassword('a forgotten password', async ({ sql }, { uid }) => {
    const [id, token] = [randomUUID(), randomUUID()];
    const link = {
      uid: id,
      token_hash: createHash('sha256').update(token).digest('hex'),
      user_id: uid,
      type: 2,
      status: 0,
    };
    const times = { created_at: new Date(), expired: new Date(Date.now() + 86_400_000) };
    await sql.query('INSERT INTO user_change_password_request SET ?', [{ ...link, credential_version: 0, ...times }]);
    return ['POST', '/user/change-pwd-by-req', { req_uid: token, ...newPassword }];
  }),
  ofUser('DELETE', '', undefined, 'USER_DELETED', { again: '404' }),
  ofUser('PATCH', '', { status: -1 }, 'USER_STATUS_CHANGED', { repeats: true }),
  ofUser('PATCH', '', { email: null }, 'USER_CHANGED', { repeats: true }),
  ofUser('POST', '/unlock', undefined, 'USER_UNLOCKED', { repeats: true }),
  ofUser('POST', '/revoke-sessions', undefined, 'USER_TOKENS_REVOKED', { repeats: true }),
  ofUser('POST', '/invite', undefined, 'USER_INVITED', { repeats: true }),
  ofUser('POST', '/offboard', undefined, left),
  ofAdministrator(
    'a move to an identity provider',
    ['', 'USER_PROVIDER_CHANGED'],
    async (world) => {
      const [uid, identity_provider] = [await givenUser(world), await givenProvider(world)];
      const body = { provider: 'oidc', identity_provider, external_id: uid };
      return { request: ['POST', `/admin/users/${uid}/provider`, body], about: () => usersOf(world, uid) };
    },
    { repeats: true },
  ),
  ofAdministrator(
    'a bulk action for two users',
    ['', 'USER_STATUS_CHANGED', 'USER_STATUS_CHANGED USER_STATUS_CHANGED'],
    async (world) => {
      const uids = [await givenUser(world), await givenUser(world)];
      const about = () => Promise.all(uids.map((uid) => usersOf(world, uid)));
      return { request: ['POST', '/admin/users/bulk', { uids, action: 'disable' }], about };
    },
    { repeats: true, atOnce: 4 },
  ),
  ofAdministrator(
    'an import of two users',
    ['', 'USER_IMPORTED', 'USER_IMPORTED USER_IMPORTED'],
    (world) => {
      const name = randomUUID();
      const lines = ['a', 'b'].map((one) => `${one}-${name},${one}-${name}@example.com`);
      const file = ['login_name,email', ...lines].join('\n');
      return Promise.resolve({ request: ['POST', '/admin/users/import', file], about: () => usersOf(world, name) });
    },
    { atOnce: 2 },
  ),
  ofReceiver('POST', '', { url: 'https://127.0.0.1:9/new', enabled: false }, 'EVENT_RECEIVER_CREATED', {
    again: '400',
    atOnce: 1,
  }),
  ofReceiver('PATCH', '', { url: 'https://127.0.0.1:9/other' }, 'EVENT_RECEIVER_CHANGED', { repeats: true }),
  ofReceiver('POST', '/replay', { from: '2026-01-01T00:00:00Z' }, 'EVENT_RECEIVER_REPLAYED', { repeats: true }),
  ofReceiver('DELETE', '', undefined, 'EVENT_RECEIVER_DELETED', { again: '404' }),
  ofScim(
    'creates a user',
    ['', 'USER_CREATED USER_INVITED'],
    ({ uid }) => ['POST', '/scim/v2/Users', scimUser(`new-${uid}`)],
    { answer: '201', again: '409' },
  ),
  ofScim('replaces a user', ['', 'USER_CHANGED'], ({ uid }) => [
    'PUT',
    `/scim/v2/Users/${uid}`,
    scimUser(uid, { displayName: 'Ann', externalId: uid }),
  ]),
  ofScim('disables a user', ['', left], ({ uid }) => [
    'PATCH',
    `/scim/v2/Users/${uid}`,
    { Operations: [{ op: 'replace', value: { active: false } }] },
  ]),
  ofScim(
    'enables a user',
    ['', 'USER_STATUS_CHANGED USER_INVITED'],
    ({ uid }) => ['PATCH', `/scim/v2/Users/${uid}`, { Operations: [{ op: 'replace', value: { active: true } }] }],
    { user: { status: -1 } },
  ),
  ofScim('deletes a user', ['', left, `${left} USER_DELETED`], ({ uid }) => ['DELETE', `/scim/v2/Users/${uid}`], {
    answer: '204',
    again: '404',
  }),
  ofScim(
    'creates a group',
    ['', 'GROUP_CREATED GROUP_MEMBER_ADDED'],
    ({ uid }) => ['POST', '/scim/v2/Groups', { displayName: `new ${uid}`, members: [{ value: uid }] }],
    { answer: '201', again: '409' },
  ),
  ofScim(
    'changes a group',
    ['', 'GROUP_MEMBER_ADDED GROUP_CHANGED'],
    ({ uid, group }) => [
      'PATCH',
      `/scim/v2/Groups/${group}`,
      {
        Operations: [
          { op: 'add', path: 'members', value: [{ value: uid }] },
          { op: 'replace', path: 'externalId', value: uid },
        ],
      },
    ],
    { answer: '204' },
  ),
  ofScim('deletes a group', ['', 'GROUP_DELETED'], ({ group }) => ['DELETE', `/scim/v2/Groups/${group}`], {
    answer: '204',
    again: '404',
  }),
  firstSignIn('a first sign-in elsewhere with an account', bound, true),
  firstSignIn('a first sign-in elsewhere without an account', `${bound} USER_PROVISIONED`, false),
];
