import { BulkRevocation, type RevocationReport } from '../../src/admin/bulk-revocation';
import { UserErasure } from '../../src/admin/user-erasure';
import { operatorAuthority } from '../../src/admin/authority';
import { SessionOpener } from '../../src/sessions/session-opener';
import { type UserConditions, UserSelection } from '../../src/users/user-selection';
import { startAdministration } from '../support/admin';
import { TestService } from '../support/app';

/** Two batches and a half. */
const people = 250;

/** `user revoke-tokens` of many users, with logins beside it. On MariaDB the logins go to another replica. */
describe('the sessions of many users end', () => {
  let service: TestService;
  let other: TestService;
  let uids: string[];
  const everybody: UserConditions = {};

  beforeAll(async () => {
    service = await startAdministration();
    const { store, clock } = service;
    other = __DATABASE__ === 'sqlite' ? service : await TestService.start({}, { store, clock });
    await givenUsers('person', people);
    uids = await service.app.get(UserSelection).next(everybody, '', people);
  });
  afterAll(async () => {
    if (other !== service) await other.stop({ keepStore: true });
    await service.stop();
  });
  afterEach(() => jest.restoreAllMocks());

  /** Users with the password of one, because each hash costs time. */
  async function givenUsers(prefix: string, count: number, columns = "'root', 1"): Promise<void> {
    const { uid } = await service.givenUser(`${prefix}0`);
    for (let n = 1; n < count; n++) {
      await service.database.affected(
        `INSERT INTO users (uid, login_name, login_name_key, password, salt, provider, created_at, tenant_id, status)
         SELECT ?, ?, ?, password, salt, provider, created_at, ${columns} FROM users WHERE uid = ?`,
        [`${prefix}-${n}`, `${prefix}${n}`, `${prefix}${n}`, uid],
      );
    }
  }

  const nameOf = async (uid: string) => (await service.userRow(uid)).login_name as string;
  const logIn = async (uid: string) => other.session(await nameOf(uid));
  const lives = async ({ access, refresh }: { access: string; refresh: string }) => [
    (await other.get('/user/me', { bearer: access })).status === 200,
    (await other.post('/refresh', undefined, { bearer: refresh })).status === 200,
  ];
  const live = [true, true];
  const ended = [false, false];
  const versions = async () => {
    const rows = await service.database.rows<{ uid: string; version: number }>(
      'SELECT uid, credential_version AS version FROM users',
    );
    return new Map(rows.map(({ uid, version }) => [uid, version]));
  };

  /** Runs until `batches` are done, or to the end. */
  async function run(conditions: UserConditions, { batches = Infinity, resume = false } = {}) {
    const revocation = service.app.get(BulkRevocation);
    const report: RevocationReport = { users: 0, revoked: 0, skipped: 0 };
    const stop = new AbortController();
    const progress = () => {
      if (--batches === 0) stop.abort();
    };
    const from = resume ? await revocation.interrupted(conditions) : undefined;
    await revocation.run(conditions, report, { progress, signal: stop.signal }, from);
    return report;
  }

  it('a session from before the batch of its user ends, one from after it lives, and a resumed run does only the rest', async () => {
    const [early, late] = [uids[0]!, uids.at(-1)!];
    const before = [await logIn(early), await logIn(late)];
    expect(await run(everybody, { batches: 1 })).toEqual({ users: 100, revoked: 2, skipped: 0 });
    expect(await Promise.all(before.map(lives))).toEqual([ended, live]);
    const between = [await logIn(early), await logIn(late)];

    expect(await run(everybody, { resume: true })).toEqual({ users: people - 100, revoked: 5, skipped: 100 });
    expect(await Promise.all(between.map(lives))).toEqual([live, ended]);
    expect(new Set((await versions()).values())).toEqual(new Set([1]));
    expect(await lives(await logIn(late))).toEqual(live);
    // A finished run is not resumed. A run without `resume` begins with the first user again.
    expect(await service.app.get(BulkRevocation).interrupted(everybody)).toBeUndefined();
    expect(await run(everybody)).toMatchObject({ users: people, skipped: 0 });
    expect(await lives(between[0]!)).toEqual(ended);
  });

  it('where a run had stopped is known after its audit rows were purged', async () => {
    await run(everybody, { batches: 1 });
    await service.database.affected('DELETE FROM audit_logs');
    expect(await run(everybody, { resume: true })).toMatchObject({ users: people - 100, skipped: 100 });
  });

  it('a run that was stopped before its first batch is resumed from the first user', async () => {
    const conditions: UserConditions = { mfaType: 'totp' };
    const stopped = { users: 0, revoked: 0, skipped: 0 };
    await service.app
      .get(BulkRevocation)
      .run(conditions, stopped, { progress: () => undefined, signal: AbortSignal.abort() });
    expect(await service.app.get(BulkRevocation).interrupted(conditions)).toEqual({ after: '', users: 0 });
    await run(conditions, { resume: true });
    expect(await service.app.get(BulkRevocation).interrupted(conditions)).toBeUndefined();
  });

  it('of two runs with the same conditions the one that began last says where to go on, and both end all sessions', async () => {
    const before = await versions();
    const selection = service.app.get(UserSelection);
    const next = selection.next.bind(selection);
    // Before the second batch of this run, another one begins, and stops after one batch.
    jest
      .spyOn(selection, 'next')
      .mockImplementationOnce(next)
      .mockImplementationOnce(async (...given: Parameters<typeof next>) => {
        await run(everybody, { batches: 1 });
        return next(...given);
      });
    expect(await run(everybody)).toMatchObject({ users: before.size });
    expect(await service.app.get(BulkRevocation).interrupted(everybody)).toMatchObject({ users: 100 });
    const grown = [...(await versions())].map(([uid, version]) => version - before.get(uid)!);
    expect(grown.filter((n) => n === 2)).toHaveLength(100);
    expect(grown.filter((n) => n === 1)).toHaveLength(before.size - 100);
    await run(everybody, { resume: true });
  });

  it('20 runs that begin at once with new conditions make one row, and each of them finishes', async () => {
    const conditions: UserConditions = { status: -2 };
    await Promise.all(Array.from({ length: 20 }, () => run(conditions)));
    expect(await service.count('revocation_runs', "conditions = 'status=-2'")).toBe(1);
    expect(await service.app.get(BulkRevocation).interrupted(conditions)).toBeUndefined();
  });

  it('a login that was checked before the batch and stored after it gives no usable token', async () => {
    const uid = uids[0]!;
    const session = await logIn(uid);
    const opener = other.app.get(SessionOpener);
    const open = opener.open.bind(opener);
    const opened = jest.spyOn(opener, 'open').mockImplementationOnce(async (...given: Parameters<typeof open>) => {
      await run(everybody, { batches: 1 });
      return open(...given);
    });
    expect(await lives(await logIn(uid))).toEqual(ended);
    expect(opened).toHaveBeenCalledTimes(1);
    expect(await lives(session)).toEqual(ended);
  });

  it('conditions apply together, and a user who no longer meets them is left alone', async () => {
    await givenUsers('acme', 3, "'acme', 1");
    await givenUsers('asleep', 3, "'acme', -1");
    const before = await versions();
    const conditions: UserConditions = { tenantId: 'acme', status: -1, provider: 'password', isAdmin: false };
    expect(await service.app.get(BulkRevocation).count(conditions)).toBe(2);
    // The status changes between the reading of the batch and its transaction.
    const selection = service.app.get(UserSelection);
    const next = selection.next.bind(selection);
    jest.spyOn(selection, 'next').mockImplementationOnce(async (...given: Parameters<typeof next>) => {
      const found = await next(...given);
      await service.database.affected("UPDATE users SET status = 1 WHERE uid = 'asleep-2'");
      return found;
    });
    expect(await run(conditions)).toEqual({ users: 1, revoked: 0, skipped: 0 });
    const changed = [...(await versions())].filter(([uid, version]) => before.get(uid) !== version);
    expect(changed).toEqual([['asleep-1', 1]]);
    expect(await service.count('audit_logs', "event = 'USER_TOKENS_REVOKED' AND user_id = 'asleep-1'")).toBe(1);
  });

  it('a run with other conditions is not taken for the interrupted one, nor is a user who was deleted counted', async () => {
    const revocation = service.app.get(BulkRevocation);
    await givenUsers('gone', 2, "'other', 1");
    await service.app.get(UserErasure).erase(operatorAuthority, 'gone-1');
    expect(await revocation.count({ tenantId: 'other' })).toBe(0);
    await run({ status: 1 }, { batches: 1 });
    expect(await revocation.interrupted({ status: 0 })).toBeUndefined();
    expect(await revocation.interrupted({ status: 1, tenantId: 'root' })).toBeUndefined();
    expect(await revocation.interrupted({ status: 1 })).toMatchObject({ users: 100 });
    await expect(revocation.count({ tenantId: 'othre' })).rejects.toThrow('there is no tenant "othre"');
  });

  it('the users are read in the order of the primary key, without a sort', async () => {
    const rows = jest.spyOn(service.database, 'rows');
    const all: UserConditions = { tenantId: 'acme', status: 1, provider: 'password', mfaType: 'email', isAdmin: false };
    expect(await service.app.get(UserSelection).next(all, 'acme-1', 10)).toEqual(['acme-2', 'asleep-2']);
    const [statement, values] = rows.mock.calls[0]!;
    const explain = __DATABASE__ === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
    const plan = JSON.stringify(await service.database.rows(`${explain} ${statement}`, values));
    expect(plan).toMatch(__DATABASE__ === 'sqlite' ? /\(uid>\?\)/ : /"key":"PRIMARY"/);
    expect(plan).not.toMatch(/filesort|TEMP B-TREE/);
  });

  it('a batch whose audit row cannot be written changes nothing', async () => {
    const before = await versions();
    const [first] = uids as [string];
    const session = await logIn(first);
    await service.database.affected('ALTER TABLE audit_logs RENAME TO audit_logs_away');
    await expect(run(everybody)).rejects.toThrow();
    await service.database.affected('ALTER TABLE audit_logs_away RENAME TO audit_logs');
    expect(await versions()).toEqual(before);
    expect(await lives(session)).toEqual(live);
  });
});
