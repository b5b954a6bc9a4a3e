import { createHash, randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { DataSource } from 'typeorm';
import { openMail } from '../../src/mail/outbox/mail-payload';
import { mailStatus } from '../../src/mail/mail-status';
import { migrations } from '../../migrations/all';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import { Cooldown } from '../../src/platform/database/cooldown.entity';
import { Cooldowns } from '../../src/platform/database/cooldown.repository';
import { Database } from '../../src/platform/database/database';
import { DatabaseOutages } from '../../src/platform/database/database-outages';
import { DatabaseWaits } from '../../src/platform/database/database-waits';
import { DiskSpace } from '../../src/platform/database/disk-space';
import { boundThePool } from '../../src/platform/database/mysql-pool';
import type { Sql } from '../../src/platform/database/sql';
import { repeatMs } from '../../src/platform/database/time-limits';
import { typeormOptions } from '../../src/platform/database/typeorm-options';
import { SystemRandom } from '../../src/shared/random';
import { type Answer, tally } from '../support/app';
import { FakeClock } from '../support/fakes';
import { MailReplica } from '../support/mail/mail-replica';
import { startOutboxProcess } from '../support/mail/outbox-process';
import { mfaSettings, wrongCode } from '../support/mfa';
import { addressOf, Replicas } from '../support/replicas';
import { goodPassword } from '../support/reset';
import { runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { Galera } from '../support/servers/galera';
import { Smtp } from '../support/servers/smtp';
import { password as right, testSettings } from '../support/settings';

const keys = new KeyRing({ dataKeys: [Buffer.from(testSettings.DATA_ENCRYPTION_KEY, 'base64')] }, new SystemRandom());
const nodes = [0, 1, 2];
const bearer = (token: unknown) => ({ authorization: `Bearer ${String(token)}` });

/**
 * Three replicas, each of which uses another node of a Galera cluster with causal reads. A row lock of one node does not
 * stop the others, so only the comparison of the changed rows at the commit keeps these guarantees (ADR 0029).
 */
describe('replicas that write to different nodes of a Galera cluster', () => {
  let cluster: Galera;
  let replicas: Replicas;
  let databaseUrl: string;
  const sources: DataSource[] = [];

  beforeAll(async () => {
    cluster = await Galera.start();
    databaseUrl = await cluster.freshDatabase();
    // The replicas migrate the empty database at the same time, each through its own node.
    const urls = cluster.nodes.map((node) => node.urlOf(databaseUrl));
    const admin = { ADMIN_API: 'on', ADMIN_REQUIRES_MFA: 'false' };
    replicas = await Replicas.start({ ...mfaSettings, ...admin, REFRESH_TOKEN_ROTATION: 'true' }, nodes.length, urls);
  });
  afterAll(async () => {
    await Promise.all(sources.map((source) => source.destroy()));
    await replicas.stop();
    await cluster.stop();
  });

  const times = <T>(count: number, run: (n: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, n) => run(n)));
  const number = async (statement: string, values: unknown[]) => Number((await replicas.rows(statement, values))[0]?.n);
  const cli = (args: string[], DATABASE_URL: string) =>
    runProgram('dist/src/cli.js', [...args, '--json'], { env: { ...testSettings, DATABASE_URL }, cwd: process.cwd() });

  let template: string | undefined;
  /** Copies one user by SQL, because the command line needs a second to start. */
  const givenUser = async (name: string): Promise<string> => {
    template ??= await replicas.givenUser('template');
    const uid = randomUUID();
    const values = [uid, name, name, addressOf(name), addressOf(name), template];
    await replicas.rows(
      `INSERT INTO users (uid, login_name, login_name_key, email, email_key, password, salt, status, tenant_id, created_at)
       SELECT ?, ?, ?, ?, ?, password, salt, status, tenant_id, created_at FROM users WHERE uid = ?`,
      values,
    );
    return uid;
  };
  const endCooldown = (uid: string) =>
    replicas.rows("UPDATE cooldowns SET until = '2000-01-01' WHERE subject = ?", [uid]);
  const codesOf = async (name: string): Promise<string[]> =>
    (await replicas.rows("SELECT payload FROM mail_outbox WHERE kind = 'otp' ORDER BY created_at")).flatMap((row) => {
      const mail = openMail(keys, row.payload as string);
      return mail.kind === 'otp' && mail.to === addressOf(name) ? [mail.code] : [];
    });
  const verify = (uid: string, type: string, code: string, n = 0): Promise<Answer> =>
    replicas.post('/otp-verify', { uid, type, code }, n);
  const mailedCode = async (name: string, uid: string): Promise<string> => {
    await endCooldown(uid);
    expect((await replicas.login(name, right)).body.data.mfa_required).toBe(true);
    return (await codesOf(name)).at(-1) ?? '';
  };
  const session = async (name: string, uid: string) => {
    const { body } = await verify(uid, 'email', await mailedCode(name, uid), 1);
    return body.data as { access_token: string; refresh_token: string };
  };
  const tokens = (uid: string) => number('SELECT COUNT(*) AS n FROM login_tokens WHERE user_identity = ?', [uid]);
  /** Creates a link for the current credentials of the user, like a mailed link. */
  const givenLink = async (uid: string, type = 2) => {
    const token = randomUUID();
    await replicas.rows(
      `INSERT INTO user_change_password_request
         (uid, token_hash, user_id, type, status, credential_version, expired, created_at)
       SELECT ?, ?, uid, ?, 0, credential_version, UTC_TIMESTAMP(3) + INTERVAL 30 MINUTE, UTC_TIMESTAMP(3)
       FROM users WHERE uid = ?`,
      [randomUUID(), createHash('sha256').update(token).digest('hex'), type, uid],
    );
    return token;
  };
  const submit = (token: string, chosen: string, n: number) =>
    replicas.post('/user/change-pwd-by-req', { req_uid: token, password: chosen, confirm_password: chosen }, n);

  /** The database as the service uses it, on one node, in this process. */
  const databaseOn = async (n: number): Promise<Database> => {
    const url = cluster.node(n).urlOf(databaseUrl);
    const source = new DataSource({ ...typeormOptions(url, 4), entities: [Cooldown] });
    sources.push(await source.initialize());
    const watch = { url, accepted: () => undefined, failed: () => false };
    boundThePool(source, new DatabaseWaits(), new DatabaseOutages(), watch, new DiskSpace());
    return Database.over(source);
  };

  describe('migrations', () => {
    const schemaOf = async (name: string) =>
      cluster.node(2).run(
        `SELECT CONCAT_WS(' ', TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_KEY) AS line
         FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '${name}'
         UNION ALL
         SELECT CONCAT_WS(' ', TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME)
         FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = '${name}' ORDER BY line`,
      );

    it('three commands, each on its own node, at the same time: all succeed, and the schema is that of one command', async () => {
      const [together, alone] = [await cluster.freshDatabase('together'), await cluster.freshDatabase('alone')];
      const runs = await times(3, (n) => cli(['migrate'], cluster.node(n).urlOf(together)));
      expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(nodes.map(() => ({ code: 0, stderr: '' })));
      expect((await cli(['migrate'], alone)).code).toBe(0);
      expect(await schemaOf('together')).toEqual(await schemaOf('alone'));
      const ledger = (await cluster.node(1).run('SELECT name FROM together.migrations')) as { name: string }[];
      expect(ledger.map(({ name }) => name).sort()).toEqual(migrations.map(({ name }) => name).sort());
      expect(JSON.parse((await cli(['migrate'], together)).stdout)).toEqual({ ran: [] });
    });

    it('three replicas that start at the same time on an empty database become ready, and list each migration once', async () => {
      const ledger = await replicas.rows('SELECT name FROM migrations');
      expect(ledger.map(({ name }) => name as string).sort()).toEqual(migrations.map(({ name }) => name).sort());
    });
  });

  describe('a lost certification', () => {
    it('is repeated until the transaction commits, and is applied once', async () => {
      const [one, other] = [await databaseOn(0), await databaseOn(1)];
      const subject = randomUUID();
      const add = 'UPDATE cooldowns SET held = held + 1 WHERE subject = ?';
      await one.affected("INSERT INTO cooldowns (subject, kind, until) VALUES (?, 'test', ?)", [subject, new Date(0)]);
      const collisions = 8;
      let starts = 0;
      await one.transaction(async (tx) => {
        starts++;
        await tx.affected(add, [subject]);
        if (starts <= collisions) await other.affected(add, [subject]);
      });
      expect(starts).toBe(collisions + 1);
      expect(await other.row('SELECT held FROM cooldowns WHERE subject = ?', [subject])).toEqual({
        held: collisions + 1,
      });
    });

    it('is never lost during the preparation of a statement, where the node reports no error: a transaction prepares none', async () => {
      const database = await databaseOn(1);
      const prepared = async (sql: Sql) =>
        Number((await sql.row<{ Value: string }>("SHOW SESSION STATUS LIKE 'Com_stmt_prepare'"))?.Value);
      const counts = await database.transaction(async (tx) => {
        const before = await prepared(tx);
        const values = ["a \\ backslash, a ' quote and a ? mark", 7, true, new Date(0), null];
        const row = await tx.row('SELECT ? AS text, ? AS number, ? AS truth, ? AS time, ? AS nothing', values);
        expect(row).toEqual({ text: values[0], number: 7, truth: 1, time: '1970-01-01 00:00:00.000', nothing: null });
        return [before, await prepared(tx)];
      });
      expect(counts[1]).toBe(counts[0]);
      expect(await prepared(database)).toBeGreaterThan(0);
    });

    it('that is lost again and again ends in COMMON_503001, and nothing of it is stored', async () => {
      const [one, other] = [await databaseOn(1), await databaseOn(2)];
      const subject = randomUUID();
      await one.affected("INSERT INTO cooldowns (subject, kind, until) VALUES (?, 'test', ?)", [subject, new Date(0)]);
      const begun = performance.now();
      let lastStart = 0;
      const endless = one.transaction(async (tx) => {
        lastStart = performance.now() - begun;
        await tx.affected('UPDATE cooldowns SET held = -1 WHERE subject = ?', [subject]);
        await other.affected('UPDATE cooldowns SET until = DATE_ADD(until, INTERVAL 1 SECOND) WHERE subject = ?', [
          subject,
        ]);
      });
      await expect(endless).rejects.toMatchObject({ entry: { code: 'COMMON_503001' } });
      // A pause follows the last look at the clock, and a busy machine may lengthen it.
      expect(lastStart).toBeLessThan(repeatMs + 2500);
      expect(await other.row('SELECT held FROM cooldowns WHERE subject = ?', [subject])).toEqual({ held: 0 });
    });

    it('a gate row that one node holds stops the other nodes, although its holder changes nothing else', async () => {
      const [one, other] = [await databaseOn(0), await databaseOn(2)];
      const rows = sources.at(-1)!.getRepository(Cooldown);
      const row = { kind: 'reset', subject: randomUUID() } as const;
      const clock = new FakeClock();
      const order: string[] = [];
      let meanwhile: Promise<unknown> | undefined;
      await new Cooldowns(rows, one, clock).serialise(row, async () => {
        order.push('one begins');
        // Runs to its end, because the row lock is on another node.
        meanwhile ??= new Cooldowns(rows, other, clock).serialise(row, (tx) => {
          order.push('the other');
          return Promise.resolve(tx);
        });
        await meanwhile;
      });
      // The first holder lost the certification, and ran again after the commit of the other one.
      expect(order).toEqual(['one begins', 'the other', 'one begins']);
    });
  });

  describe('the guarantees', () => {
    it('of 90 parallel wrong passwords exactly 3 get LOGIN_401001, the others LOGIN_401004, and the account is locked on each node', async () => {
      const uid = await givenUser('lock');
      const answers = await times(90, (n) => replicas.login('lock', 'wrong', n));
      expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 87 });
      expect(await number('SELECT login_failed_count AS n FROM users WHERE uid = ?', [uid])).toBe(3);
      expect(tally(await times(3, (n) => replicas.login('lock', right, n)))).toEqual({ LOGIN_401004: 3 });
    });

    it('of 60 parallel wrong codes five are compared, and of 30 parallel right ones one gets a session', async () => {
      const uid = await givenUser('codes');
      const code = await mailedCode('codes', uid);
      const wrong = await times(60, (n) => verify(uid, 'email', wrongCode(code, n + 1), n));
      expect(tally(wrong)).toEqual({ MFA_401001: 60 });
      const compared = "SELECT COUNT(*) AS n FROM audit_logs WHERE event = 'MFA_CODE_WRONG' AND user_id = ?";
      expect(await number(compared, [uid])).toBe(5);
      const next = await mailedCode('codes', uid);
      expect(tally(await times(30, (n) => verify(uid, 'email', next, n)))).toEqual({ success: 1, MFA_401001: 29 });
      expect(await tokens(uid)).toBe(2);
    });

    it('of 30 parallel uses of one recovery code one gets a session', async () => {
      const uid = await givenUser('recovery');
      const { access_token } = await session('recovery', uid);
      const made = await replicas.post('/recovery-codes', {}, 0, bearer(access_token));
      const [code] = made.body.data.codes as string[];
      await mailedCode('recovery', uid);
      const before = await tokens(uid);
      const answers = await times(30, (n) => verify(uid, 'recovery', code!, n));
      expect(tally(answers)).toEqual({ success: 1, AUTH_MFA_401001: 29 });
      expect(await tokens(uid)).toBe(before + 2);
    });

    it('of 5 parallel logins one sends a code, and so does one of 9 parallel resends after the cooldown', async () => {
      const uid = await givenUser('throttle');
      expect(tally(await times(5, (n) => replicas.login('throttle', right, n)))).toEqual({ success: 1, MFA_429001: 4 });
      expect(await codesOf('throttle')).toHaveLength(1);
      await endCooldown(uid);
      const resends = await times(9, (n) => replicas.post('/otp-resend', { uid, type: 'email' }, n));
      expect(tally(resends)).toEqual({ success: 1, MFA_429001: 8 });
      expect(await codesOf('throttle')).toHaveLength(2);
    });

    it('30 parallel uses of one refresh token get the same successor, and a token is unknown nowhere after its answer', async () => {
      const uid = await givenUser('rotation');
      let { refresh_token: parent } = await session('rotation', uid);
      const answers = await times(30, (n) => replicas.post('/refresh', { refresh_token: parent }, n));
      expect(tally(answers)).toEqual({ success: 30 });
      const successors = answers.map(({ body }) => String(body.data.refresh_token));
      expect(new Set(successors.map((token) => decodeJwt(token).jti)).size).toBe(1);
      parent = successors[0] as string;
      for (let n = 0; n < 30; n++) {
        const { status, body } = await replicas.post('/refresh', { refresh_token: parent }, n);
        expect([n, status]).toEqual([n, 200]);
        const me = await replicas.get('/user/me', n + 1, bearer(body.data.access_token));
        expect([n, me.status]).toEqual([n, 200]);
        parent = body.data.refresh_token as string;
      }
      const { body } = await replicas.post('/refresh', { refresh_token: parent }, 0);
      expect((await replicas.post('/logout', {}, 1, bearer(body.data.access_token))).status).toBe(200);
      expect((await replicas.get('/user/me', 2, bearer(body.data.access_token))).status).toBe(401);
    });

    it('of 30 parallel /forget-password requests one sends a mail, and of 30 parallel submits of its link one wins', async () => {
      const uid = await givenUser('reset');
      const mails = "SELECT COUNT(*) AS n FROM mail_outbox WHERE kind = 'reset-link'";
      const before = await number(mails, []);
      const asked = await times(30, (n) => replicas.post('/forget-password', { email: addressOf('reset') }, n));
      expect(tally(asked)).toEqual({ success: 1, AUTH_429002: 29 });
      expect((await number(mails, [])) - before).toBe(1);
      const token = await givenLink(uid);
      const answers = await times(30, (n) => submit(token, goodPassword(n), n));
      expect(tally(answers)).toEqual({ success: 1, AUTH_401007: 29 });
      expect(await number('SELECT COUNT(*) AS n FROM user_change_pwd_logs WHERE user_id = ?', [uid])).toBe(1);
    });

    it('of parallel submits of three links of one user one wins, and no link is left', async () => {
      for (let round = 0; round < 5; round++) {
        const uid = await givenUser(`links${round}`);
        const links = [await givenLink(uid, 0), await givenLink(uid, 2), await givenLink(uid, 3)];
        const answers = await times(9, (n) => submit(links[n % 3] as string, goodPassword(n), Math.floor(n / 3)));
        expect(tally(answers)).toEqual({ success: 1, AUTH_401007: 8 });
        const pending = 'SELECT COUNT(*) AS n FROM user_change_password_request WHERE user_id = ? AND status = 0';
        expect(await number(pending, [uid])).toBe(0);
      }
    });

    it('of two administrators who demote each other through two nodes at the same time one stays', async () => {
      for (let round = 0; round < 5; round++) {
        await replicas.rows('UPDATE users SET is_admin = 0');
        const both = ['first', 'second'].map((name) => `${name}${round}`);
        const uids = [await givenUser(both[0]!), await givenUser(both[1]!)];
        await replicas.rows('UPDATE users SET is_admin = 1 WHERE uid IN (?)', [uids]);
        const sessions = [await session(both[0]!, uids[0]!), await session(both[1]!, uids[1]!)];
        const answers = await times(2, (n) =>
          replicas.change(`/admin/users/${uids[1 - n]}`, { is_admin: false }, n, bearer(sessions[n]?.access_token)),
        );
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
        expect(await number('SELECT COUNT(*) AS n FROM users WHERE is_admin = 1', [])).toBe(1);
      }
    });

    it('three workers of the outbox, each on its own node, send each of 60 mails once', async () => {
      const url = await cluster.freshDatabase('outbox');
      const smtp = await Smtp.start();
      const observer = await MailReplica.start(url, { clock: new FakeClock(new Date()) });
      const workers = await times(3, (n) =>
        startOutboxProcess(
          cluster.node(n).urlOf(url),
          { SMTP_URL: smtp.url, MAIL_FROM: `n${n}@example.com` },
          { pollMs: 200 },
        ),
      );
      await observer.queueMany(60);
      await eventually(async () => (await observer.rows()).every((row) => row.status === mailStatus.sent), {
        what: 'every mail is sent',
      });
      const to = smtp.messages.map((message) => message.to.join());
      expect(to).toHaveLength(60);
      expect(new Set(to).size).toBe(60);
      await Promise.all(workers.map((worker) => worker.kill()));
      await observer.stop();
      await smtp.stop();
    });

    it('three purges, each on its own node, at the same time: all succeed, and each old row is counted once', async () => {
      const old = 3000;
      await replicas.rows(
        `INSERT INTO captcha_receipts (token_hash, expires)
         SELECT SHA2(seq, 256), '2020-01-01' FROM seq_1_to_${old}`,
      );
      const runs = await times(3, (n) => cli(['purge'], cluster.node(n).urlOf(databaseUrl)));
      expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(nodes.map(() => ({ code: 0, stderr: '' })));
      const counts = runs.map(({ stdout }) => (JSON.parse(stdout) as { captcha_receipts: number }).captcha_receipts);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(old);
      expect(await number('SELECT COUNT(*) AS n FROM captcha_receipts', [])).toBe(0);
    });
  });

  it('doctor finds a node without causal reads', async () => {
    const cluster1 = async () => {
      const { code, stdout, stderr } = await cli(['doctor'], cluster.node(1).urlOf(databaseUrl));
      const findings = JSON.parse(stdout) as { check: string; status: string; text: string }[];
      const { status, text } = findings.find(({ check }) => check === 'cluster')!;
      return { code, stderr, cluster: `${status}: ${text}` };
    };
    expect(await cluster1()).toEqual({ code: 0, stderr: '', cluster: 'ok: Galera with causal reads' });
    await cluster.node(1).run('SET GLOBAL wsrep_sync_wait = 0');
    expect(await cluster1()).toEqual({
      code: 1,
      stderr: 'doctor found problems: cluster\n',
      cluster: 'problem: Galera without causal reads: wsrep_sync_wait is 0 and must be 7 on each node',
    });
    await cluster.node(1).run('SET GLOBAL wsrep_sync_wait = 7');
  });

  it('no request of these tests was answered with an error of the server', () => {
    for (const { lines } of replicas.services) {
      expect(lines.filter((line) => /COMMON_50\d001|uncaught|unhandled/i.test(line))).toEqual([]);
    }
  });
});
