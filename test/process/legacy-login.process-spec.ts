import { tally } from '../support/app';
import { LegacyStandIn } from '../support/legacy-system';
import { Replicas } from '../support/replicas';

const old = 'Old-System-42-pass';

/** docs/spec/extensions.md#legacy-login, with the built program and the command line. */
describe('first logins of users of an old system over two processes on MariaDB', () => {
  let legacy: LegacyStandIn;
  let replicas: Replicas;
  beforeAll(async () => {
    legacy = await LegacyStandIn.start();
    replicas = await Replicas.start({ ...legacy.settings, HASH_QUEUE_MAX_WAIT_MS: '60000' });
  });
  afterAll(async () => {
    await replicas.stop();
    await legacy.stop();
  });

  it('T709 of first logins at once all succeed, one password is stored, and then nobody is asked; doctor counts who is left', async () => {
    legacy.passwords.set('brought', old);
    const people = ['brought', 'waiting'].map((login_name) => JSON.stringify({ login_name, legacy_login: true }));
    const file = people.join('\n');
    const imported = await replicas.run(['user', 'import', '-', '--format', 'jsonl'], { input: file });
    expect(imported.answer).toMatchObject({ created: 2, failed: [] });

    const logins = Array.from({ length: 8 }, (_, n) => replicas.login('brought', old, n));
    expect(tally(await Promise.all(logins))).toEqual({ success: 8 });
    const [row] = await replicas.rows("SELECT * FROM users WHERE login_name_key = 'brought'");
    expect(row).toMatchObject({ legacy_login: 0, credential_version: 0 });
    const adopted = "SELECT uid FROM audit_logs JOIN users ON uid = user_id WHERE event = 'USER_PASSWORD_ADOPTED'";
    expect(await replicas.rows(adopted)).toEqual([{ uid: row!.uid }]);
    legacy.seen.length = 0;
    expect(tally([await replicas.login('brought', old, 0), await replicas.login('brought', 'wrong', 1)])).toEqual({
      ...{ success: 1, LOGIN_401001: 1 },
    });
    expect(legacy.seen).toEqual([]);

    const doctor = async () =>
      ((await replicas.run(['doctor'])).answer as { check: string; status: string; text: string }[]).find(
        ({ check }) => check === 'legacy',
      );
    const left = 'users who have not signed in since the import: 1';
    expect(await doctor()).toEqual({ check: 'legacy', status: 'ok', text: `it answers; ${left}` });
    expect(legacy.seen.map(({ body }) => body.login_name)).toEqual([expect.stringMatching(/^doctor-/)]);
    legacy.behaviour = (_asked, response) => void response.writeHead(401).end();
    expect(await doctor()).toMatchObject({ status: 'problem', text: expect.stringContaining('status 401') });
    legacy.behaviour = (_asked, response) => void response.writeHead(200).end('{"result":true}');
    expect(await doctor()).toMatchObject({ status: 'problem', text: expect.stringContaining('wrong password') });
  });
});
