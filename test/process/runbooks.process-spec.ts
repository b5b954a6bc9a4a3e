import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection, type Connection } from 'mysql2/promise';
import { sealMail } from '../../src/mail/outbox/mail-payload';
import { secretPurpose } from '../../src/mfa/totp/sealed-totp';
import { loadConfig } from '../../src/platform/config/app-config';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import { SystemRandom } from '../../src/shared/random';
import { runbooks } from '../support/runbooks';
import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { Smtp } from '../support/servers/smtp';
import { WebhookReceiver } from '../support/events/webhook-receiver';
import { captchaToken, dataKey, password, testSettings } from '../support/settings';

const ROOT = resolve(__dirname, '../..');

/** What a page runs: its blocks run one after the other, on the service that the pages before it have left. */
interface Scenario {
  /** Whose token is `OLD_TOKEN`. Default: admin. */
  readonly user?: string;
  before?(): Promise<unknown>;
  after?(): Promise<unknown>;
}

/** A command of the pages that needs a cluster. The test runs what it does to one process, or says why nothing. */
interface ClusterCommand {
  readonly command: RegExp;
  readonly reason: string;
  readonly locally?: () => Promise<unknown>;
}

/** Runs the commands of docs/operations/runbooks. The tools of the database lead to a private database. */
describe('the runbooks', () => {
  let directory: string;
  let databaseUrl: string;
  let sql: Connection;
  let smtp: Smtp;
  let receiver: WebhookReceiver;
  let service: ServiceProcess;
  let env: Record<string, string>;
  let oldToken = '';
  const pages = runbooks();

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'runbooks-'));
    databaseUrl = await MariaDbDatabases.shared().freshDatabase();
    smtp = await Smtp.start();
    receiver = await WebhookReceiver.start();
    const [port, metricsPort] = [await freePort(), await freePort()];
    env = {
      ...testSettings,
      DATABASE_URL: databaseUrl,
      SMTP_URL: smtp.url,
      ...receiver.settings,
      MAIL_FROM: 'portal@example.com',
      PORT: `${port}`,
      METRICS_PORT: `${metricsPort}`,
      METRICS_HOST: '127.0.0.1',
      AUTH_URL: `http://127.0.0.1:${port}`,
      METRICS_URL: `http://127.0.0.1:${metricsPort}`,
    };
    await tools();
    service = await ServiceProcess.start({ env });
    sql = await createConnection({ uri: databaseUrl, timezone: 'Z' });
    await shell('node dist/src/cli.js tenant create acme Acme');
    for (const name of ['admin', 'alice', 'bob']) {
      const user = `--login-name ${name} --email ${name}@example.com --password '${password}'`;
      await shell(`node dist/src/cli.js user create ${user} ${name === 'admin' ? '--admin' : '--tenant acme'}`);
    }
  });
  afterAll(async () => {
    await sql?.end();
    await service?.kill();
    await smtp?.stop();
    await receiver?.stop();
    await rm(directory, { recursive: true });
    await MariaDbDatabases.shared().drop(databaseUrl);
  });

  /** Programs before those of the system: the tools of the database with the address and the name of the private one. */
  async function tools(): Promise<void> {
    const bin = join(directory, 'bin');
    await mkdir(bin);
    await symlink(join(ROOT, 'dist'), join(directory, 'dist'));
    const { hostname, port, username, password: secret, pathname } = new URL(databaseUrl);
    await writeFile(
      join(directory, 'my.cnf'),
      `[client]\nprotocol=tcp\nhost=${hostname}\nport=${port}\nuser=${username}\npassword=${decodeURIComponent(secret)}\n`,
    );
    for (const [name, program] of [
      ['mysql', 'mariadb'],
      ['mysqldump', 'mariadb-dump'],
    ] as const) {
      const script = `#!/bin/bash
args=(); for arg in "$@"; do [ "$arg" = portal ] && arg=${pathname.slice(1)}; args+=("$arg"); done
exec ${program} --defaults-file=${join(directory, 'my.cnf')} "\${args[@]}"\n`;
      await writeFile(join(bin, name), script);
      await chmod(join(bin, name), 0o755);
    }
  }

  /** Runs one block as a person types it, and ends at the first command that fails. */
  async function shell(block: string): Promise<string> {
    const { PATH = '' } = process.env;
    const path = `${join(directory, 'bin')}:${resolve(process.execPath, '..')}:${PATH}`;
    const child = spawn('bash', ['-euo', 'pipefail', '-c', block], {
      cwd: directory,
      env: { ...env, PATH: path, USER: 'jest', OLD_TOKEN: oldToken },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`a command of this block ended with ${code}:\n${block}\n${output}`);
    return output;
  }

  const logIn = async (name: string, typed = password) => {
    const response = await fetch(`${service.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: name, password: typed, captcha_token: captchaToken }),
    });
    return { status: response.status, body: (await response.json()) as any };
  };
  const tokenOf = async (name: string) => (await logIn(name)).body.data.access_token as string;
  const accepts = async (token: string) =>
    (await fetch(`${service.url}/user/me`, { headers: { authorization: `Bearer ${token}` } })).status === 200;

  async function restart(settings: Record<string, string> = {}): Promise<void> {
    env = { ...env, ...settings };
    await service.stop();
    service = await ServiceProcess.start({ env });
  }
  const keys = () => new KeyRing(loadConfig(env), new SystemRandom());
  const rollOut = () => restart(nextSettings.shift() ?? {});
  /** The settings of the next roll-outs of the page. */
  let nextSettings: Record<string, string>[] = [];
  const newKey = dataKey('runbooks');
  const givenUpEvent = '7c2d9e4f-1a3b-4c5d-8e6f-0a1b2c3d4e5f';

  const clusterCommands: ClusterCommand[] = [
    { command: /^kubectl -n portal get (pods|jobs)$/, reason: 'only a cluster has pods and Jobs' },
    { command: /^kubectl -n portal logs /, reason: 'only a cluster keeps the logs of pods' },
    { command: /^kubectl -n portal top pods$/, reason: 'only a cluster measures pods' },
    { command: /^kubectl -n portal rollout undo /, reason: 'test/process/ops-versions goes back to another version' },
    { command: /^kubectl -n portal rollout status /, reason: 'the start of the process waits for its readiness' },
    { command: /^kubectl -n portal rollout restart /, reason: 'restarts the process', locally: rollOut },
    { command: /^kubectl -n portal patch hpa /, reason: 'only a cluster has an autoscaler' },
    { command: /^kubectl -n portal delete job /, reason: 'only a cluster has Jobs' },
    {
      command: /^kubectl -n portal scale .*--replicas=0$/,
      reason: 'stops the process',
      locally: () => service.stop(),
    },
    {
      command: /^kubectl -n portal scale .*--replicas=[1-9]$/,
      reason: 'one process is enough for the page: it runs again when it was stopped',
      locally: () => restart(),
    },
    {
      command: /^kubectl -n portal patch secret portal-authentication(-migration)? -p /,
      reason: 'the next start of the process has the new key',
    },
  ];

  const scenarios: Record<string, Scenario> = {
    'README.md': {},
    'availability.md': { before: () => logIn('alice', 'wrong') },
    'logins.md': {
      before: async () => {
        for (let n = 0; n < 3; n++) await logIn('alice', 'wrong');
        expect((await logIn('alice')).body.error_code).toBe('LOGIN_401004');
      },
      after: async () => expect((await logIn('alice')).status).toBe(200),
    },
    'mails-and-events.md': {
      before: async () => {
        await sql.query(
          `INSERT INTO event_outbox (event_id, type, stream, payload, status, fresh, created_at)
           VALUES (?, 'user.unlocked', 'bob', '{"type":"user.unlocked","data":{}}', 2, 0, UTC_TIMESTAMP())`,
          [givenUpEvent],
        );
        const expires = new Date(Date.now() + 86_400_000);
        const mail = { kind: 'otp', to: 'bob@example.com', language: 'en', code: '123456', expires } as const;
        await sql.query(
          `INSERT INTO mail_outbox (id, kind, payload, status, attempts, next_attempt_at, expires, created_at) VALUES
           ('0c9f6a1e-5d2b-4c3a-9e8f-7a6b5c4d3e2f', 'otp', ?, 2, 1, UTC_TIMESTAMP(), ?, UTC_TIMESTAMP())`,
          [sealMail(keys(), mail), expires],
        );
      },
      after: async () => {
        const arrived = (address: string) => smtp.messages.some(({ to }) => to.includes(address));
        await eventually(() => arrived('ops@example.com') && arrived('bob@example.com'), { what: 'both mails' });
        const again = () => receiver.accepted.some(({ id }) => id === givenUpEvent);
        await eventually(again, { what: 'the event that was given up' });
        expect(receiver.accepted.some(({ type }) => type === 'webhook.test')).toBe(true);
      },
    },
    'database.md': {},
    'leaked-signing-key.md': {
      before: () => {
        nextSettings = [{ JWT_SECRET: 'another-secret-of-the-runbooks-in-the-tests' }];
        return Promise.resolve();
      },
      after: async () => expect(await accepts(await tokenOf('alice'))).toBe(true),
    },
    'leaked-data-key.md': {
      before: async () => {
        nextSettings = [{ DATA_ENCRYPTION_KEY: `${newKey},${testSettings.DATA_ENCRYPTION_KEY}` }];
        const sealed = keys().seal(secretPurpose, 'JBSWY3DPEHPK3PXP');
        await sql.query("UPDATE users SET mfa_type = 'totp', topt_secret = ? WHERE login_name = 'bob'", [sealed]);
      },
      after: () => restart({ DATA_ENCRYPTION_KEY: newKey }),
    },
    'locked-out-administrator.md': {
      before: async () => {
        await sql.query("UPDATE users SET status = -1, is_admin = 0, mfa_type = 'totp' WHERE login_name = 'admin'");
        for (let n = 0; n < 3; n++) await logIn('admin', 'wrong');
      },
      after: async () => {
        const [rows] = await sql.query("SELECT status, is_admin, mfa_type FROM users WHERE login_name = 'admin'");
        expect(rows).toEqual([{ status: 1, is_admin: 1, mfa_type: 'email' }]);
        expect((await logIn('admin')).status).toBe(200);
      },
    },
    'mass-reset.md': {
      user: 'alice',
      after: async () => {
        expect(await accepts(oldToken)).toBe(false);
        expect((await logIn('alice')).body.data.change_password).toBe(true);
      },
    },
    'failover.md': {},
    'restore.md': { after: async () => expect((await logIn('admin')).status).toBe(200) },
  };
  /** `--resume` needs a run that was interrupted. */
  const interruption = () =>
    sql.query(
      "UPDATE revocation_runs SET after_uid = '0', users = 1, finished_at = NULL WHERE conditions = 'tenantId=acme'",
    );

  it('each page has a scenario', () => {
    expect(pages.map(({ page }) => page)).toEqual(Object.keys(scenarios).sort());
  });

  const ran = new Set<string>();
  it.each(pages.map((one) => [one.page, one] as const))(
    'each command of %s does what the page says',
    async (page, { blocks }) => {
      const { user = 'admin', before, after } = scenarios[page]!;
      oldToken = await tokenOf(user);
      await before?.();
      for (const lines of blocks) {
        const kubectl = lines.filter((line) => line.startsWith('kubectl '));
        if (kubectl.length === 0) {
          if (lines.some((line) => line.includes('--resume'))) await interruption();
          await shell(lines.join('\n'));
          continue;
        }
        // A block is either for the cluster or for the service, so that no line is left out.
        expect(kubectl).toEqual(lines);
        for (const line of lines) {
          const found = clusterCommands.find(({ command }) => command.test(line));
          if (found === undefined) throw new Error(`${page}: this command is not run, and no reason is given: ${line}`);
          ran.add(String(found.command));
          await found.locally?.();
        }
      }
      await after?.();
      expect(nextSettings).toEqual([]);
    },
  );

  it('no line of the table of cluster commands is out of use', () => {
    expect([...ran].sort()).toEqual(clusterCommands.map(({ command }) => String(command)).sort());
  });
});
