import { execFile } from 'node:child_process';
import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { SiteverifyStub } from '../support/captcha/siteverify-stub';
import { directoryPassword, givenPerson, ldapSettings } from '../support/ldap';
import { Replicas } from '../support/replicas';
import { eventually } from '../support/servers/eventually';
import { OpenLdap } from '../support/servers/openldap';
import { captchaToken, password } from '../support/settings';

const run = promisify(execFile);

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly retryAfter: string | undefined;
}

/**
 * A process that may open no further file: a connection to another server, and a part of the program that is loaded at
 * its first use, then fail with EMFILE. A request that needs them gets the answer of an outage.
 */
const unavailable = { status: 503, code: 'COMMON_503001', retryAfter: expect.any(String) as string };

describe('a process without a free file descriptor', () => {
  const captcha = new SiteverifyStub();
  let directory: OpenLdap;
  let service: Replicas;
  let agent: Agent | undefined;

  beforeAll(async () => {
    [directory] = await Promise.all([OpenLdap.start(), captcha.listen()]);
    await givenPerson(directory, 'absent');
  });
  afterAll(async () => {
    await captcha.close();
    await directory?.stop();
  });

  beforeEach(async () => {
    service = await Replicas.start(
      ldapSettings(directory, {
        LDAP_JIT_PROVISIONING: 'true',
        CAPTCHA_PROVIDER: 'turnstile',
        CAPTCHA_SECRET: 'secret',
        CAPTCHA_VERIFY_URL: captcha.url,
      }),
      1,
    );
    // One connection that stays open, because the process cannot accept another one.
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
  });
  afterEach(async () => {
    agent?.destroy();
    await service?.stop();
  });

  const ask = (method: string, path: string, body?: object): Promise<Answer> =>
    new Promise((done, failed) => {
      const sent = request(`${service.services[0]!.url}${path}`, {
        method,
        agent,
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
      });
      sent.on('error', failed);
      sent.on('response', (response) => {
        const { statusCode = 0, headers } = response;
        json(response).then(
          (answer) =>
            done({
              status: statusCode,
              code: (answer as { error_code?: string }).error_code,
              retryAfter: headers['retry-after'],
            }),
          failed,
        );
      });
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const logIn = (more: object) =>
    ask('POST', '/login', { username: 'absent', password: directoryPassword, captcha_token: captchaToken, ...more });

  /** Runs `work` while the process can open nothing. What it has open stays open. */
  async function withoutDescriptors(work: () => Promise<unknown>): Promise<void> {
    const { pid } = service.services[0]!;
    const limits = ['--pid', `${pid}`];
    const { stdout } = await run('prlimit', [...limits, '--nofile', '--raw', '--noheadings', '--output', 'SOFT,HARD']);
    const former = stdout.trim().split(/\s+/).join(':');
    expect((await ask('GET', '/health/live')).status).toBe(200);
    await run('prlimit', [...limits, `--nofile=3:${former.split(':')[1]}`]);
    try {
      await work();
    } finally {
      await run('prlimit', [...limits, `--nofile=${former}`]);
    }
  }

  const recovers = (what: string, work: () => Promise<Answer>) =>
    eventually(async () => (await work()).status === 200, { what: `${what} succeeds again`, interval: 200 });

  it.each([
    ['at the directory', { provider: 'ldap' }, 'LOGIN_503001'],
    ['with a captcha', { captcha_token: 'a-token' }, 'CAPTCHA_503001'],
  ])(
    'a login %s is answered 503, also the first one of a process, and succeeds afterwards',
    async (what, more, code) => {
      const login = () => logIn({ provider: 'ldap', ...more });
      const answers: Answer[] = [];
      await withoutDescriptors(() =>
        eventually(
          async () => {
            // A request that finds no free connection to the database, because a worker uses it, is refused earlier.
            answers.push(await login());
            return answers.at(-1)?.code !== unavailable.code;
          },
          { what: 'a login that gets as far as the other server' },
        ),
      );
      expect(answers.at(-1)).toMatchObject({ ...unavailable, code });
      expect(answers.filter(({ status }) => status !== 503)).toEqual([]);
      await recovers(`a login ${what}`, login);
    },
  );

  it('a login with a password is answered 503 while no thread can start and no connection to the database can be made', async () => {
    await service.givenUser('local');
    const login = () => logIn({ username: 'local', password });
    await withoutDescriptors(async () => {
      expect(await login()).toMatchObject(unavailable);
      const open = await service.rows(
        'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
      );
      expect(open.length).toBeGreaterThan(0);
      // A connection may have ended by itself.
      for (const { id } of open) await service.sql.query(`KILL ${id}`).catch(() => undefined);
      // The first statement may notice that its connection is gone, and the next one that no other can be made.
      for (let n = 0; n < 3; n++) expect(await login()).toMatchObject(unavailable);
    });
    await recovers('a login', login);
    expect(await service.rows('SELECT 1 FROM users WHERE login_failed_count > 0')).toEqual([]);
  });
});
