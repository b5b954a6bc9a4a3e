import { createConnection, type Connection } from 'mysql2/promise';
import { sealMail } from '../../src/mail/outbox/mail-payload';
import { secretPurpose } from '../../src/mfa/totp/sealed-totp';
import { loadConfig } from '../../src/settings/app-config';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import { SystemRandom } from '../../src/shared/random';
import { CompanyProvider } from '../support/identity-provider';
import { type KubectlAnswer, RunbookPlaces } from '../support/runbook-places';
import { type Place, runbooks } from '../support/runbooks';
import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { Smtp } from '../support/servers/smtp';
import { WebhookReceiver } from '../support/events/webhook-receiver';
import { captchaToken, dataKey, password, testSettings } from '../support/settings';

/** What a page runs: its blocks run one after the other, on the service that the pages before it have left. */
interface Scenario {
  /** Whose token is `OLD_TOKEN`. Default: admin. */
  readonly user?: string;
  before?(): Promise<unknown>;
  after?(): Promise<unknown>;
}

/** A command of `kubectl`. The test runs what it does to one process, or says why nothing. */
interface ClusterCommand {
  readonly command: RegExp;
  readonly reason: string;
  readonly locally?: (args: readonly string[]) => Promise<unknown>;
  readonly output?: string;
}

/** Runs each block of docs/operations/runbooks at its place. The tools of the database lead to a private database. */
describe('the runbooks', () => {
  let places: RunbookPlaces;
  let databaseUrl: string;
  let sql: Connection;
  let smtp: Smtp;
  let receiver: WebhookReceiver;
  let service: ServiceProcess;
  let env: Record<string, string>;
  let oldToken = '';
  let company: CompanyProvider | undefined;
  const newSecret = 'a secret of the runbook';
  const pages = runbooks();

  beforeAll(async () => {
    databaseUrl = await MariaDbDatabases.shared().migratedDatabase();
    smtp = await Smtp.start();
    receiver = await WebhookReceiver.start();
    const [port, metricsPort] = [await freePort(), await freePort()];
    env = {
      ...testSettings,
      DATABASE_URL: databaseUrl,
      SMTP_URL: smtp.url,
      ...receiver.settings,
      EVENT_RECEIVERS: 'on',
      MAIL_FROM: 'portal@example.com',
      PORT: `${port}`,
      METRICS_PORT: `${metricsPort}`,
      METRICS_HOST: '127.0.0.1',
    };
    const urls = { AUTH_URL: `http://127.0.0.1:${port}`, METRICS_URL: `http://127.0.0.1:${metricsPort}` };
    places = await RunbookPlaces.start({
      databaseUrl,
      settings: () => env,
      variables: () => ({ ...urls, OLD_TOKEN: oldToken, NEW_SECRET: newSecret }),
      kubectl,
    });
    service = await ServiceProcess.start({ env });
    sql = await createConnection({ uri: databaseUrl, timezone: 'Z' });
    await places.run('pod', 'node dist/src/cli.js tenant create acme Acme');
    for (const name of ['admin', 'alice', 'bob']) {
      const user = `--login-name ${name} --email ${name}@example.com --password '${password}'`;
      await places.run(
        'pod',
        `node dist/src/cli.js user create ${user} ${name === 'admin' ? '--admin' : '--tenant acme'}`,
      );
    }
  });
  afterAll(async () => {
    await sql?.end();
    await service?.kill();
    await smtp?.stop();
    await receiver?.stop();
    await places?.stop();
    await company?.stop();
    await MariaDbDatabases.shared().drop(databaseUrl);
  });

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
  /** The settings that the next roll-out of the page brings. */
  let nextSettings: Record<string, string> = {};
  const rollOut = async () => {
    await restart(nextSettings);
    nextSettings = {};
  };
  const newKey = dataKey('runbooks');
  const givenUpEvent = '7c2d9e4f-1a3b-4c5d-8e6f-0a1b2c3d4e5f';

  /** What runs in the namespace. */
  const cluster = { service: true, maintenance: false };

  const clusterCommands: ClusterCommand[] = [
    { command: /^-n portal get (pods|jobs)$/, reason: 'only a cluster has pods and Jobs' },
    {
      command: /^-n portal logs /,
      reason: 'only a cluster keeps the logs of pods',
      output: '{"level":50}\n{"context":"events"}\n{"msg":"an identity provider gave no usable answer"}\n',
    },
    { command: /^-n portal top pods$/, reason: 'only a cluster measures pods' },
    { command: /^-n portal wait /, reason: 'the stub does everything before it answers' },
    { command: /^-n portal rollout undo /, reason: 'test/process/ops-versions goes back to another version' },
    { command: /^-n portal rollout status /, reason: 'the start of the process waits for its readiness' },
    { command: /^-n portal rollout restart /, reason: 'restarts the process', locally: rollOut },
    { command: /^-n portal patch hpa /, reason: 'only a cluster has an autoscaler', locally: (args) => patchOf(args) },
    { command: /^-n portal delete job /, reason: 'only a cluster has Jobs' },
    {
      command: /^-n portal create job portal-authentication-purge-again --from=cronjob\/portal-authentication-purge$/,
      reason: 'runs what the CronJob runs',
      locally: () => places.run('pod', 'node dist/src/cli.js purge'),
    },
    {
      command:
        /^-n portal create job portal-authentication-(backup|restore-test)-again --from=cronjob\/portal-authentication-\1$/,
      reason: 'test/process/backup runs what these CronJobs run',
    },
    {
      command: /^apply -k deploy\/kustomize\/overlays\/production$/,
      reason: 'runs what the migration Job runs',
      locally: () => places.run('pod', 'node dist/src/cli.js migrate'),
    },
    {
      command: /^(apply|delete) -k deploy\/kustomize\/jobs\/maintenance$/,
      reason: 'commands run in the pod of the Job, also while the service is stopped',
      locally: ([verb]) => Promise.resolve((cluster.maintenance = verb === 'apply')),
    },
    {
      command: /^-n portal scale deployment\/portal-authentication --replicas=0$/,
      reason: 'stops the process',
      locally: () => {
        cluster.service = false;
        return service.stop();
      },
    },
    {
      command: /^-n portal scale deployment\/portal-authentication --replicas=1$/,
      reason: 'starts the process',
      locally: () => {
        cluster.service = true;
        return restart();
      },
    },
    {
      command: /^-n portal patch secret portal-authentication(-migration)? -p /,
      reason: 'the next start of the process has the new key',
      locally: async (args) => {
        const { data } = (await patchOf(args)) as { data: Record<string, string> };
        for (const [name, value] of Object.entries(data))
          nextSettings[name] = Buffer.from(value, 'base64').toString().trim();
      },
    },
  ];
  const patchOf = (args: readonly string[]) => Promise.resolve(JSON.parse(args.at(-1)!) as unknown);

  const ran = new Set<string>();
  async function kubectl(args: readonly string[]): Promise<KubectlAnswer> {
    const line = args.join(' ');
    const [, target] = /^-n portal exec (?:-i |-it )?(\S+) -- /.exec(line) ?? [];
    if (target !== undefined) {
      const pods = {
        'deploy/portal-authentication': cluster.service,
        'job/portal-authentication-maintenance': cluster.maintenance,
      };
      if (pods[target as keyof typeof pods] !== true) return { problem: `no pod of ${target} runs` };
      return { exec: args.slice(args.indexOf('--') + 1) };
    }
    const found = clusterCommands.find(({ command }) => command.test(line));
    if (found === undefined) return { problem: `this command is not run, and no reason is given: kubectl ${line}` };
    ran.add(String(found.command));
    await found.locally?.(args);
    return { output: found.output };
  }

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
        await places.run('pod', `node dist/src/cli.js event-receiver create siem --url '${receiver.url}'`);
      },
      after: async () => {
        const arrived = (address: string) => smtp.messages.some(({ to }) => to.includes(address));
        await eventually(() => arrived('ops@example.com') && arrived('bob@example.com'), { what: 'both mails' });
        const again = () => receiver.accepted.some(({ id }) => id === givenUpEvent);
        await eventually(again, { what: 'the event that was given up' });
        expect(receiver.accepted.some(({ type }) => type === 'webhook.test')).toBe(true);
      },
    },
    'applications.md': {},
    'database.md': {},
    'maintenance.md': {},
    'objectives.md': {},
    'leaked-signing-key.md': {
      after: async () => expect(await accepts(await tokenOf('alice'))).toBe(true),
    },
    'leaked-client-secret.md': {},
    'identity-provider-secret.md': {
      before: async () => {
        company = await CompanyProvider.start([
          { clientId: 'portal', secret: newSecret, redirectUris: ['https://x.test'] },
        ]);
        const fields = `--name Entra --issuer ${company.issuer} --client-id portal --client-secret-file -`;
        await places.run('pod', `printf old-secret | node dist/src/cli.js idp add entra ${fields}`);
      },
      after: async () => {
        await places.run('pod', 'node dist/src/cli.js idp remove entra');
        await company?.stop();
      },
    },
    'scim.md': {},
    'leaked-data-key.md': {
      before: async () => {
        nextSettings = { DATA_ENCRYPTION_KEY: `${newKey},${testSettings.DATA_ENCRYPTION_KEY}` };
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

  it.each(pages.map((one) => [one.page, one] as const))(
    'each block of %s does what the page says, at the place that it names',
    async (page, { blocks }) => {
      const { user = 'admin', before, after } = scenarios[page]!;
      oldToken = await tokenOf(user);
      await before?.();
      for (const { place, commands } of blocks) {
        if (commands.includes('--resume')) await interruption();
        // Whoever types it into a shell of a pod needs a pod.
        if (place === 'pod') expect(cluster.service).toBe(true);
        await places.run(place, commands);
      }
      await after?.();
      expect({ nextSettings, cluster }).toEqual({ nextSettings: {}, cluster: { service: true, maintenance: false } });
    },
  );

  it('no line of the table of cluster commands is out of use', () => {
    expect([...ran].sort()).toEqual(clusterCommands.map(({ command }) => String(command)).sort());
  });

  it.each<[Place, string]>([
    ['pod', 'mysql portal -e "SELECT 1"'],
    ['pod', 'curl -sS "$AUTH_URL/health/live"'],
    ['pod', 'kubectl -n portal get pods'],
    ['pod', 'node dist/src/cli.js keys generate > keys'],
    ['pod', 'node dist/src/cli.js keys generate > /tmp/keys'],
    ['pod', 'node dist/src/cli.js --actor "$USER" user list'],
    ['laptop', 'node dist/src/cli.js doctor'],
    ['laptop', 'mysql portal -e "SELECT 1"'],
    ['laptop', 'kubectl -n portal exec job/portal-authentication-maintenance -- node dist/src/cli.js doctor'],
    ['laptop', 'kubectl -n portal exec deploy/portal-authentication -- mysql portal'],
    ['laptop', 'kubectl apply -k deploy/kustomize/overlays/of-somebody-else'],
    ['database host', 'node dist/src/cli.js doctor'],
    ['database host', 'kubectl -n portal get pods'],
    ['database host', 'curl -sS "$AUTH_URL/health/live"'],
  ])('a block in the wrong place fails: %s, %s', async (place, block) => {
    await expect(places.run(place, block)).rejects.toThrow(`(${place})`);
  });

  it('the three places have what their blocks need', async () => {
    await places.run('laptop', 'kubectl -n portal exec -i deploy/portal-authentication -- cat < /dev/null');
    const piped =
      'kubectl -n portal exec -i deploy/portal-authentication -- node dist/src/cli.js user import - --format csv';
    const file = `echo login_name > people.csv; echo carol >> people.csv; ${piped} < people.csv`;
    expect(await places.run('laptop', file)).toContain('1 rows: 1 created');
    await expect(places.run('laptop', file.replace(' -i ', ' '))).rejects.toThrow('kubectl exec needs -i');
    expect(await places.run('database host', 'mysql -N portal -e "SELECT login_name FROM users"')).toContain('carol');
  });
});
