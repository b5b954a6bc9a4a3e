import { PortalAdmin } from '../dist/admin.js';
import { credentials, failure, fakeLocks, fresh, loggedIn, no, ok, settled, World } from './world';

const pauses: number[] = [];
const pause = (seconds: number): Promise<void> => {
  pauses.push(seconds);
  return Promise.resolve();
};

async function administrator(world: World): Promise<PortalAdmin> {
  const tab = world.on('/login', loggedIn).tab(undefined, { locks: fakeLocks() });
  await tab.login(credentials);
  return new PortalAdmin(tab, { pause });
}

async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

const page = (items: unknown[], next: string | null) => ok({ items, next });
const asked = (world: World): string[] => world.asked.slice(1).map(({ path, query }) => path + query);

beforeEach(() => pauses.splice(0));

describe('the lists of the administration', () => {
  it('an iteration reads page after page, with the filters, until the last one', async () => {
    const world = new World().on(
      '/admin/users',
      page([{ uid: 'a' }, { uid: 'b' }], 'c+/='),
      page([], 'd'),
      page([{ uid: 'c' }], null),
    );
    const admin = await administrator(world);
    const rows = await collect(admin.users({ query: 'ann & co', locked: true }));
    expect(rows).toEqual([{ uid: 'a' }, { uid: 'b' }, { uid: 'c' }]);
    expect(asked(world)).toEqual([
      '/admin/users?query=ann%20%26%20co&locked=true&limit=200',
      '/admin/users?query=ann%20%26%20co&locked=true&after=c%2B%2F%3D&limit=200',
      '/admin/users?query=ann%20%26%20co&locked=true&after=d&limit=200',
    ]);
  });

  it('an iteration that stops early asks for no further page', async () => {
    const world = new World().on('/admin/audit-logs', page([{ id: '1' }, { id: '2' }], 'more'));
    const admin = await administrator(world);
    for await (const row of admin.auditLogs()) if (row.id === '2') break;
    expect(world.count('/admin/audit-logs')).toBe(1);
  });

  it('page() reads one page, from a cursor, with as many rows as it is told', async () => {
    const world = new World()
      .on('/admin/users/u%201/sessions', page([], null))
      .on('/admin/users/u%201/passkeys', page([], null));
    const admin = await administrator(world);
    expect(await admin.userSessions('u 1').page({ after: 'x', limit: 5 })).toEqual({ items: [], next: null });
    expect(await admin.userPasskeys('u 1').page({ limit: 5 })).toEqual({ items: [], next: null });
    expect(asked(world)).toEqual([
      '/admin/users/u%201/sessions?after=x&limit=5',
      '/admin/users/u%201/passkeys?limit=5',
    ]);
  });

  it('an iteration waits as a busy service says, and goes on where it was', async () => {
    const world = new World().on(
      '/admin/login-logs',
      page([{ id: '2' }], 'x'),
      no('COMMON_429001', 7),
      no('COMMON_503001', 2),
      page([{ id: '1' }], null),
    );
    const admin = await administrator(world);
    expect(await collect(admin.loginLogs())).toEqual([{ id: '2' }, { id: '1' }]);
    expect(pauses).toEqual([7, 2]);
  });

  it('an iteration does not wait for ever', async () => {
    const world = new World()
      .on('/admin/login-logs', no('COMMON_429001', 1))
      .on('/admin/mails', no('COMMON_429001', 61));
    const admin = await administrator(world);
    expect(await failure(collect(admin.loginLogs()))).toMatchObject({ code: 'COMMON_429001' });
    expect(pauses).toEqual([1, 1, 1]);
    expect(await failure(collect(admin.mails()))).toMatchObject({ code: 'COMMON_429001', retryAfter: 61 });
    expect(pauses).toHaveLength(3);
  });

  it('the pause of an iteration ends at once when its signal aborts', async () => {
    const world = new World().on('/admin/login-logs', no('COMMON_429001', 50));
    const tab = world.on('/login', loggedIn).tab(undefined, { locks: fakeLocks() });
    await tab.login(credentials);
    const stop = new AbortController();
    const rows = failure(collect(new PortalAdmin(tab).loginLogs().each({ signal: stop.signal })));
    await settled();
    stop.abort(new Error('enough'));
    expect(await rows).toMatchObject({ name: 'Error' });
  });

  it('an aborted request rejects with the reason of the signal, and the iteration stops', async () => {
    const world = new World().on('/admin/users', page([{ uid: 'a' }], 'x'), () => new Promise(() => undefined));
    const admin = await administrator(world);
    const stop = new AbortController();
    const found: unknown[] = [];
    const run = (async () => {
      for await (const row of admin.users().each({ signal: stop.signal })) found.push(row);
    })();
    const rejected = expect(run).rejects.toThrow('enough');
    await settled();
    stop.abort(new Error('enough'));
    await rejected;
    expect(found).toEqual([{ uid: 'a' }]);
    await expect(admin.users().page({ signal: stop.signal })).rejects.toThrow('enough');
  });

  it('file() asks for the whole list as NDJSON, with the filters and without a limit', async () => {
    const world = new World().on('/admin/login-logs', { status: 200, body: { id: '1' } });
    const admin = await administrator(world);
    const file = await admin.loginLogs({ outcome: 'success' }).file();
    expect(await file.text()).toBe('{"id":"1"}');
    expect(world.asked.at(-1)).toMatchObject({ query: '?outcome=success', accept: 'application/x-ndjson' });
    await admin.loginLogs({ user: 'ann' }).spreadsheet();
    expect(world.asked.at(-1)).toMatchObject({ query: '?user=ann&format=csv' });
    expect(world.asked.at(-1)?.accept).not.toBe('application/x-ndjson');
  });

  it('a file that takes ten minutes is not cut off, as any other answer is after 20 s', async () => {
    const never = () => new Promise<never>(() => undefined);
    const world = new World().on('/admin/login-logs', never).on('/admin/overview', never);
    const admin = await administrator(world);
    let done = '';
    const file = failure(admin.loginLogs().file()).finally(() => (done += 'file'));
    const overview = failure(admin.overview()).finally(() => (done += 'overview '));
    await settled();
    await world.clock.pass(21);
    await overview;
    await world.clock.pass(578);
    expect(done).toBe('overview ');
    await world.clock.pass(2);
    expect(await file).toMatchObject({ name: 'ConnectionError' });
  });
});

describe('the calls of the administration', () => {
  it('a refused access token is renewed once, for several calls at a time', async () => {
    const world = new World().on('/refresh', async () => {
      await settled();
      return fresh('access-9', 'refresh-9');
    });
    const answer = { items: [], next: null };
    for (const path of ['/admin/tenants', '/admin/overview', '/admin/users/u-1/unlock'])
      world.on(path, ({ bearer }) => (bearer === 'access-9' ? ok(answer) : no('AUTH_401002')));
    const admin = await administrator(world);
    await Promise.all([collect(admin.tenants()), admin.overview(), admin.unlockUser('u-1')]);
    expect(world.count('/refresh')).toBe(1);
  });

  it.each(['AUTH_403001', 'AUTH_403002', 'USER_404001', 'USER_409001', 'USER_409002'] as const)(
    '%s rejects as itself, and nobody is signed out',
    async (code) => {
      const world = new World().on('PATCH /admin/users/u-1', no(code));
      const tab = world.on('/login', loggedIn).tab(undefined, { locks: fakeLocks() });
      await tab.login(credentials);
      expect(await failure(new PortalAdmin(tab).changeUser('u-1', { status: -1 }))).toMatchObject({
        name: 'ServiceError',
        code,
      });
      expect(tab.snapshot.step).toEqual({ kind: 'signed-in' });
      expect(world.count('/refresh')).toBe(0);
    },
  );

  it('each change sends its method, its path and its body', async () => {
    const world = new World();
    const admin = await administrator(world);
    const calls: (() => Promise<unknown>)[] = [
      () => admin.createUser({ login_name: 'a', email: 'a@example.com', invite: true }),
      () => admin.changeUser('u', { email: null }),
      () => admin.deleteUser('../x'),
      () => admin.endUserSessions('u'),
      () => admin.resetSecondFactor('u'),
      () => admin.requirePasswordChange('u'),
      () => admin.inviteUser('u'),
      () => admin.sendResetLink('u'),
      () => admin.removeUserPasskey('u', 'k'),
      () => admin.setSetting('SMTP', 'HOST', 'mail.example.com'),
      () => admin.removeSetting('SMTP', 'HOST'),
      () => admin.testMail('a@example.com'),
      () => admin.retryMail('m'),
      () => admin.retryEvent('e'),
      () => admin.replayEvents({ from: 'a', to: 'b' }),
      () => admin.setBrand({ name: 'A', logo_dark: null }),
      () => admin.setBrand({ name: null }, 't'),
      () => admin.createTenant({ id: 't', name: 'T' }),
      () => admin.renameTenant('t', 'U'),
      () => admin.createOrgUnit({ id: 'o', name: 'O', tenant_id: 't' }),
      () => admin.renameOrgUnit('o', 'P'),
    ];
    for (const call of calls) expect(await failure(call())).toMatchObject({ name: 'ConnectionError' });
    const sent = world.asked.slice(1).map(({ method, path, body }) => `${method} ${path} ${JSON.stringify(body)}`);
    expect(sent).toEqual([
      'POST /admin/users {"login_name":"a","email":"a@example.com","invite":true}',
      'PATCH /admin/users/u {"email":null}',
      'DELETE /admin/users/..%2Fx {}',
      'POST /admin/users/u/revoke-sessions {}',
      'POST /admin/users/u/reset-second-factor {}',
      'POST /admin/users/u/require-password-change {}',
      'POST /admin/users/u/invite {}',
      'POST /admin/users/u/send-reset-link {}',
      'DELETE /admin/users/u/passkeys/k {}',
      'PUT /admin/config/SMTP/HOST {"value":"mail.example.com"}',
      'DELETE /admin/config/SMTP/HOST {}',
      'POST /admin/config/smtp-test {"to":"a@example.com"}',
      'POST /admin/mails/m/retry {}',
      'POST /admin/events/e/retry {}',
      'POST /admin/events/replay {"from":"a","to":"b"}',
      'PUT /admin/brand {"name":"A","logo_dark":null}',
      'PUT /admin/brand/t {"name":null}',
      'POST /admin/tenants {"id":"t","name":"T"}',
      'PATCH /admin/tenants/t {"name":"U"}',
      'POST /admin/org-units {"id":"o","name":"O","tenant_id":"t"}',
      'PATCH /admin/org-units/o {"name":"P"}',
    ]);
  });

  it('no call sends a request without a session', async () => {
    const world = new World();
    const admin = new PortalAdmin(world.tab(), { pause });
    for (const call of [admin.overview(), collect(admin.users()), admin.users().file()])
      expect(await failure(call)).toMatchObject({ rule: 'signed-out' });
    expect(world.asked).toEqual([]);
  });
});
