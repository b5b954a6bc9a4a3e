import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createConnection } from 'mysql2/promise';
import { dataUrl, pngOf } from '../support/images';
import { runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { captchaToken, password, patientDatabase, testSettings } from '../support/settings';

interface Result {
  readonly status: number;
  readonly code: string | undefined;
  readonly data: any;
}

const rounds = 6;

describe.each(['MariaDB', 'SQLite'])('administrators on two replicas with %s', (store) => {
  let directory: string;
  let databaseUrl: string;
  let env: Record<string, string>;
  const replicas: ServiceProcess[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'admin-replicas-'));
    databaseUrl =
      store === 'MariaDB'
        ? await MariaDbDatabases.shared().freshDatabase()
        : `sqlite:${join(directory, 'auth.sqlite')}`;
    env = { ...testSettings, ...patientDatabase, LOG_LEVEL: 'error', DATABASE_URL: databaseUrl, DATA_DIR: directory };
    expect(await cli('migrate')).toMatchObject({ code: 0 });
    await givenTenant();
    for (const name of ['ann', 'ben']) {
      expect(await cli('user', 'create', '--login-name', name, '--password', password, '--admin')).toMatchObject({
        code: 0,
      });
    }
    for (let n = 0; n < 2; n++) {
      replicas.push(await ServiceProcess.start({ env: { ...env, ADMIN_API: 'on', ADMIN_REQUIRES_MFA: 'false' } }));
    }
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await rm(directory, { recursive: true, force: true });
    if (store === 'MariaDB') await MariaDbDatabases.shared().drop(databaseUrl);
  });

  async function givenTenant(): Promise<void> {
    const statement = "INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'Acme', '2026-01-01 00:00:00.000')";
    if (store === 'SQLite') new Database(join(directory, 'auth.sqlite')).exec(statement).close();
    else {
      const sql = await createConnection({ uri: databaseUrl });
      await sql.query(statement);
      await sql.end();
    }
  }

  const cli = (...args: string[]) => runProgram('dist/src/cli.js', args, { env, cwd: directory });

  async function send(n: number, method: string, path: string, bearer?: string, body?: object): Promise<Result> {
    const answer = await fetch(`${replicas[n]!.url}${path}`, {
      method,
      headers: {
        ...(body && { 'content-type': 'application/json' }),
        ...(bearer && { authorization: `Bearer ${bearer}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const { error_code: code, data } = (await answer.json()) as { error_code?: string; data?: unknown };
    return { status: answer.status, code, data };
  }

  async function logIn(username: string) {
    const body = { username, password, captcha_token: captchaToken };
    const { data } = await send(0, 'POST', '/login', undefined, body);
    const bearer = String(data.access_token);
    const claims = JSON.parse(Buffer.from(bearer.split('.')[1]!, 'base64url').toString()) as { sub: string };
    return { uid: claims.sub, bearer };
  }
  const setAdmin = (n: number, by: string, uid: string, is_admin: boolean) =>
    send(n, 'PATCH', `/admin/users/${uid}`, by, { is_admin });
  const usersOn = async (n: number, bearer: string) => {
    const { status, code } = await send(n, 'GET', '/admin/users', bearer);
    return code ?? status;
  };

  it('the next request of an administrator who was demoted or moved is refused by both (T313)', async () => {
    const ann = await logIn('ann');
    expect(await cli('user', 'create', '--login-name', 'cleo', '--password', password)).toMatchObject({ code: 0 });
    for (const change of [{ is_admin: false }, { status: 0 }, { tenant_id: 'acme' }]) {
      const { uid } = await logIn('cleo');
      await setAdmin(0, ann.bearer, uid, true);
      const { bearer } = await logIn('cleo');
      expect([await usersOn(0, bearer), await usersOn(1, bearer)]).toEqual([200, 200]);
      expect((await send(1, 'PATCH', `/admin/users/${uid}`, ann.bearer, change)).code).toBeUndefined();
      expect([await usersOn(0, bearer), await usersOn(1, bearer)]).toEqual(['AUTH_401004', 'AUTH_401004']);
      expect((await send(0, 'PATCH', `/admin/users/${uid}`, ann.bearer, { status: 1 })).code).toBeUndefined();
    }
    await cli('user', 'delete', 'cleo', '--yes');
  });

  it(`of two administrators who demote each other at the same time one stays, ${rounds} times (T316)`, async () => {
    for (let round = 0; round < rounds; round++) {
      const [ann, ben] = [await logIn('ann'), await logIn('ben')];
      const answers = await Promise.all([
        setAdmin(0, ann.bearer, ben.uid, false),
        setAdmin(1, ben.bearer, ann.uid, false),
      ]);
      // The loser's rights are gone before the own change, or the winner would be the last one.
      expect(answers.map(({ code }) => code ?? 'won').sort()).toEqual([
        expect.stringMatching(/^(AUTH_401004|AUTH_403001|USER_409002)$/),
        'won',
      ]);
      const [winner, loser] = answers[0].code === undefined ? [ann, ben] : [ben, ann];
      expect([await usersOn(0, winner.bearer), await usersOn(1, loser.bearer)]).toEqual([200, 'AUTH_401004']);
      expect((await setAdmin(1, winner.bearer, loser.uid, true)).code).toBeUndefined();
    }
  });

  it('a brand and its image that one replica stores are shown by the other one, which had read the former brand', async () => {
    const { bearer } = await logIn('ann');
    const nameOn = async (n: number) => (await send(n, 'GET', '/capabilities?tenant=acme')).data.brand.name as string;
    expect((await send(0, 'PUT', '/admin/brand/acme', bearer, { name: 'Before' })).status).toBe(200);
    await eventually(async () => (await nameOn(1)) === 'Before', { what: 'the first brand on the other replica' });
    const change = { name: 'After', logo_light: dataUrl('png', pngOf()) };
    const { data } = await send(0, 'PUT', '/admin/brand/acme', bearer, change);
    expect(await nameOn(0)).toBe('After');
    const image = await fetch(`${replicas[1]!.url}${data.logo_light}`);
    expect(Buffer.from(await image.arrayBuffer()).equals(pngOf())).toBe(true);
    await eventually(async () => (await nameOn(1)) === 'After', { what: 'the change on the other replica' });
  });

  it('the last administrator of the root tenant stays, whatever the command line and the API do at the same time (T316)', async () => {
    const [ann, ben] = [await logIn('ann'), await logIn('ben')];
    const [byApi, byCommand] = await Promise.all([
      send(0, 'DELETE', `/admin/users/${ben.uid}`, ann.bearer),
      cli('user', 'set-admin', 'ann', 'off'),
    ]);
    expect([byApi.code === undefined, byCommand.code === 0].sort()).toEqual([false, true]);
    const last = byApi.code === undefined ? 'ann' : 'ben';
    for (const args of [
      ['set-admin', last, 'off'],
      ['set-status', last, '-1'],
      ['delete', last, '--yes'],
    ]) {
      const { code, stderr } = await cli('user', ...args);
      expect({ args, code, stderr }).toEqual({
        args,
        code: 1,
        stderr: 'the root tenant would have no enabled administrator\n',
      });
    }
    expect(await usersOn(1, (await logIn(last)).bearer)).toBe(200);
  });
});
