import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import '../support/servers/slow-tests';
import { hang, LogoutReceiver } from '../support/applications/logout-receiver';
import { accept, answer, WebhookReceiver } from '../support/events/webhook-receiver';
import { Replicas } from '../support/replicas';
import { runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { testSettings } from '../support/settings';

/** docs/spec/extensions.md#offboarding: the record goes on after a crash, and the event of the end is written once. */
describe('an off-boarding of the built program', () => {
  it('every replica is killed before anybody was told: after a restart the receipt gets complete, once (T594)', async () => {
    const [applications, webhook] = [await LogoutReceiver.start(), await WebhookReceiver.start()];
    const replicas = await Replicas.start({ OIDC: 'on', ...webhook.settings });
    const wiki = randomUUID();
    await replicas.rows(
      `INSERT INTO applications (id, name, type, redirect_uris, post_logout_redirect_uris, backchannel_logout_uri,
         scopes, audience, allowed_tenants, allowed_groups, created_at, changed_at)
       VALUES (?, 'Wiki', 'web', '[]', '[]', ?, '[]', '[]', '[]', '[]', NOW(3), NOW(3))`,
      [wiki, applications.uri('/wiki')],
    );
    applications.behaviours['/wiki'] = hang;
    webhook.behaviour = answer(503);
    const uid = await replicas.givenUser('leaver');
    const access = (await replicas.login('leaver')).body.data.access_token as string;
    await replicas.rows(
      'INSERT INTO application_sessions (sid, application_id, user_id, logout_id, began_at) VALUES (?, ?, ?, ?, NOW(3))',
      [String(decodeJwt(access).sid), wiki, uid, randomUUID()],
    );

    const began = await replicas.cli('--actor', 'auditor', 'user', 'offboard', 'leaver');
    expect(began).toMatchObject({ uid, login_name: 'leaver', complete: false });
    await eventually(() => applications.seen.length > 0 && webhook.seen.length > 0, { what: 'both are asked' });
    await Promise.all(replicas.services.map((service) => service.kill()));
    expect(applications.accepted).toEqual([]);
    const open = await replicas.cli('user', 'offboarding', 'leaver');
    expect(open.offboarding).toMatchObject({ via: 'cli', began_by: 'auditor', complete: false, seconds: null });
    expect((open.offboarding.receivers as { status: string }[]).map(({ status }) => status)).toEqual([
      'waiting',
      'waiting',
    ]);

    delete applications.behaviours['/wiki'];
    webhook.behaviour = accept;
    // The leases of the killed processes end by themselves, which takes half a minute.
    for (const table of ['application_logouts', 'event_streams'])
      await replicas.rows(`UPDATE ${table} SET claimed_until = NOW(3), next_attempt_at = NOW(3)`);
    const survivors = [await replicas.launch(), await replicas.launch()];
    const told = () =>
      webhook.seen.filter(({ type, data, accepted }) => accepted && type === 'user.offboarded' && data.user_id === uid);
    await eventually(() => told().length > 0, { what: 'the event of the end' });
    const { offboarding } = await replicas.cli('user', 'offboarding', uid);
    expect(offboarding).toMatchObject({ id: began.offboarding, complete: true, given_up: 0 });
    expect(offboarding.seconds).toBeGreaterThan(0);
    expect(offboarding.receivers).toMatchObject([
      { name: 'Wiki', status: 'told', answer: 'status 200' },
      { kind: 'webhook', status: 'told' },
    ]);
    const ends = await replicas.rows("SELECT id FROM audit_logs WHERE event = 'USER_OFFBOARDED'");
    expect(ends).toHaveLength(1);
    expect(new Set(told().map(({ id }) => id)).size).toBe(1);

    const folder = await mkdtemp(join(tmpdir(), 'user-export-'));
    const file = join(folder, 'leaver.json');
    const env = { ...testSettings, DATABASE_URL: replicas.databaseUrl };
    const run = (...args: string[]) => runProgram('dist/src/cli.js', ['user', ...args], { env, cwd: process.cwd() });
    expect(await run('export', 'leaver', '--out', file)).toMatchObject({ code: 0, stdout: '' });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const stored = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown[]>;
    expect(stored.account).toMatchObject([{ login_name: 'leaver', status: 'disabled', has_password: true }]);
    expect(stored.offboardings).toMatchObject([{ id: began.offboarding, status: 'complete' }]);
    const again = await run('export', 'leaver', '--out', file);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('the file exists') as unknown });
    expect(JSON.parse((await run('export', 'leaver')).stdout)).toMatchObject({ uid });
    expect((await run('offboarding', 'leaver')).stdout).toMatch(
      /account: 1 ended\n[^]*application Wiki: told[^]*complete after/,
    );
    await rm(folder, { recursive: true });

    await Promise.all(survivors.map((service) => service.stop()));
    await replicas.stop();
    await Promise.all([applications.stop(), webhook.stop()]);
  });
});
