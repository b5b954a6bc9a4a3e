import { randomUUID } from 'node:crypto';
import { availableParallelism, loadavg } from 'node:os';
import { ThrottlerStorage } from '@nestjs/throttler';
import { EventOutbox } from '../../src/events/event-outbox';
import { MailOutbox } from '../../src/mail/mail-outbox';
import type { SharedCounters } from '../../src/platform/limits/shared-counters';
import { SessionOpener } from '../../src/sessions/session-opener';
import type { User } from '../../src/users/user.entity';
import { type Answer, password, TestService } from '../support/app';
import { BreachStub, lineOf, range } from '../support/breach-stub';
import { SiteverifyStub } from '../support/captcha/siteverify-stub';
import { migratedDatabase, type TestDatabase } from '../support/database';
import { WebhookReceiver } from '../support/events/webhook-receiver';
import { directoryPassword, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { lostTime, outageLikeMs } from '../support/lost-time';
import { browser } from '../support/passkeys';
import { eventually } from '../support/servers/eventually';
import { OpenLdap } from '../support/servers/openldap';
import { Redis } from '../support/servers/redis';
import { Smtp } from '../support/servers/smtp';
import { TcpProxy } from '../support/servers/tcp-proxy';

jest.unmock('../../src/platform/database/time-limits');
jest.unmock('../../src/directory/ldap-limits');

/** `dead`: nothing that needs the server can work. */
interface Fault {
  readonly how: string;
  readonly dead: boolean;
  readonly begin: (proxy: TcpProxy, request: string) => unknown;
}

const faults: Fault[] = [
  { how: 'takes 50 ms for each packet', dead: false, begin: (proxy) => proxy.setLatency(50) },
  { how: 'takes 500 ms for each packet', dead: false, begin: (proxy) => proxy.setLatency(500) },
  { how: 'sends one byte at a time', dead: false, begin: (proxy) => proxy.oneByteAtATime() },
  { how: 'is a black hole', dead: true, begin: (proxy) => proxy.blackhole() },
  { how: 'resets connections', dead: true, begin: (proxy) => proxy.reset() },
  { how: 'refuses connections', dead: true, begin: (proxy) => proxy.refuse() },
  { how: 'loses the answers to requests', dead: true, begin: (proxy, request) => proxy.loseAnswers(request) },
];

/** What the service promises, and what a busy machine may need in addition. */
const promisedMs = { store: 5000, directory: 5000, redis: 250, captcha: 1000, breach: 2000, atOnce: 500 };
const marginMs = 4000;

/** Parallel requests during each fault. Fewer than the failures that open the circuit breaker of a captcha provider. */
const asks = 3;

const breached = 'Breached-Horse-7';

interface Trial {
  ask(): Promise<Answer>;
  /** The answer while the server works. */
  readonly usual: string;
  /** The answer while nothing reaches the server. Default: `usual`, because no request waits for it. */
  readonly outage?: string;
  /** Succeeds soon after the end of the fault. @param answers the codes that `ask` gave during the fault */
  recovers(answers: string[], fault: Fault): Promise<void>;
}

interface Server {
  readonly name: string;
  readonly proxy: () => TcpProxy;
  readonly boundMs: number;
  /** Text in the requests whose answers are lost. */
  readonly request: string;
  /** Whether no request waits for the server. */
  readonly background?: boolean;
  given(): Promise<Trial>;
}

const codeOf = ({ status, body }: Answer) => (status === 200 ? 'success' : (body.error_code as string));

/** One service whose seven servers each stand behind a proxy. It is never restarted. */
describe('T238 a bad network before each server (docs/spec/attacks.md#3.10)', () => {
  const stops: (() => unknown)[] = [];
  const captcha = new SiteverifyStub();
  const breach = new BreachStub();
  const proxies = new Map<string, TcpProxy>();
  let store: TestDatabase;
  let redis: Redis;
  let smtp: Smtp;
  let directory: OpenLdap;
  let receiver: WebhookReceiver;
  let service: TestService;

  beforeAll(async () => {
    store = await migratedDatabase();
    [redis, smtp, directory, receiver] = await Promise.all([
      Redis.start(),
      Smtp.start(),
      OpenLdap.start(),
      WebhookReceiver.start(),
      captcha.listen(),
      breach.listen(),
    ]);
    stops.push(
      () => redis.stop(),
      () => smtp.stop(),
      () => directory.stop(),
      () => receiver.stop(),
    );
    stops.push(
      () => captcha.close(),
      () => breach.close(),
    );
    breach.behaviour = range(lineOf(breached, 3));
    /** @returns the URL with the port of a new proxy */
    const behind = async (name: string, to: string): Promise<string> => {
      const { proxy, url } = await TcpProxy.before(to);
      proxies.set(name, proxy);
      stops.push(() => proxy.stop());
      return url;
    };
    service = await TestService.start(
      {
        DATABASE_URL: await behind('MariaDB', store.url),
        DATABASE_POOL_SIZE: '4',
        RATE_LIMIT: 'on',
        RATE_LIMIT_LOGIN: '100000',
        REDIS_URL: await behind('Redis', redis.url),
        SMTP_URL: await behind('SMTP', smtp.url),
        ...ldapSettings(directory),
        LDAP_URL: await behind('LDAP', directory.url),
        LDAP_TIMEOUT_MS: '1000',
        CAPTCHA_PROVIDER: 'turnstile',
        CAPTCHA_SECRET: 'secret',
        CAPTCHA_VERIFY_URL: await behind('captcha', captcha.url),
        CAPTCHA_TIMEOUT_MS: `${promisedMs.captcha}`,
        PASSWORD_BREACH_URL: await behind('breach', breach.url),
        ...receiver.settings,
        WEBHOOK_URL: await behind('webhook', receiver.url),
        MAX_LOCK_COUNT: '50',
      },
      { store },
    );
    await service.database.affected(
      "INSERT INTO system_configs (tenant_id, `group`, `key`, value) VALUES ('root', 'CONFIG', 'PASSWORD_POLICY', ?)",
      ['{"breach_check":true}'],
    );
    service.clock.advanceSeconds(60);
    // Loads what a service loads at the first use. Under jest that takes longer than some of the time limits.
    const user = await newUser();
    await eventually(async () => codeOf(await service.login(user.loginName)) === 'success', { what: 'a login' });
    await settled();
  });

  afterAll(async () => {
    proxies.forEach((proxy) => void proxy.forward());
    await service?.stop();
    await Promise.all(stops.map((stop) => stop()));
  });

  const newUser = (more: Parameters<TestService['givenUser']>[1] = {}) => service.givenUser(randomUUID(), more);
  const failuresOf = async ({ uid }: User) => Number((await service.userRow(uid)).login_failed_count);

  /** Sends everything that waits, also what waits for its next attempt. */
  const settled = async () => {
    await Promise.all([service.app.get(MailOutbox).sendDue(), service.app.get(EventOutbox).sendDue()]);
    service.clock.advanceSeconds(40);
  };
  const answers = (ask: () => Promise<Answer>, code: string) =>
    eventually(async () => codeOf(await ask()) === code, { what: `${code} again`, interval: 100 });

  const servers: Server[] = [
    {
      name: 'MariaDB',
      proxy: () => proxies.get('MariaDB')!,
      boundMs: promisedMs.store,
      request: '',
      given: async () => {
        const user = await newUser();
        return {
          ask: () => service.login(user.loginName, 'wrong'),
          usual: 'LOGIN_401001',
          outage: 'COMMON_503001',
          recovers: async (codes) => {
            // The clock of these tests is far ahead of the database, so readiness itself stays red.
            const isBack = async () => (await service.get('/health/ready')).body.database === 'ok';
            await eventually(isBack, { what: 'the database is used again', interval: 100 });
            const n = await failuresOf(user);
            expect(n).toBeGreaterThanOrEqual(codes.filter((code) => code === 'LOGIN_401001').length);
            expect(n).toBeLessThanOrEqual(codes.length);
            await answers(() => service.login(user.loginName), 'success');
          },
        };
      },
    },
    {
      name: 'Redis',
      proxy: () => proxies.get('Redis')!,
      boundMs: promisedMs.redis,
      request: '',
      given: async () => {
        const user = await newUser();
        return {
          ask: () => service.login(user.loginName),
          usual: 'success',
          recovers: async () => {
            // After a failure Redis is not used for five seconds. The service counts alone meanwhile.
            const countedInRedis = async () => {
              const code = codeOf(await service.login(user.loginName));
              return code === 'success' && service.app.get<SharedCounters>(ThrottlerStorage).redisCounts();
            };
            await eventually(countedInRedis, { what: 'requests are counted in Redis again', interval: 250 });
          },
        };
      },
    },
    {
      name: 'SMTP',
      proxy: () => proxies.get('SMTP')!,
      boundMs: promisedMs.atOnce,
      request: '.\r\n',
      background: true,
      given: () => {
        const users: User[] = [];
        return Promise.resolve({
          ask: async () => {
            const user = await newUser();
            users.push(user);
            return service.post('/forget-password', { email: user.email });
          },
          usual: 'success',
          recovers: async (_codes, { how }) => {
            const to = ({ email }: User) => smtp.messages.filter((mail) => mail.to.includes(email!));
            await eventually(
              async () => {
                await settled();
                return users.every((user) => to(user).length > 0);
              },
              { what: 'the mails arrive' },
            );
            for (const user of users) {
              // A mail that the server has got and not confirmed is sent again. Readers see one: it has the same id.
              const ids = to(user).map(({ mail }) => mail.messageId);
              expect(new Set(ids).size).toBe(1);
              if (!how.startsWith('loses')) expect(ids).toHaveLength(1);
            }
          },
        });
      },
    },
    {
      name: 'LDAP',
      proxy: () => proxies.get('LDAP')!,
      boundMs: promisedMs.directory,
      request: '',
      given: async () => {
        const user = await newUser({ provider: 'ldap' });
        await givenPerson(directory, user.loginName);
        return {
          ask: () => ldapLogin(service, user.loginName, 'wrong'),
          usual: 'LOGIN_401001',
          outage: 'LOGIN_503001',
          recovers: async (codes) => {
            expect(await failuresOf(user)).toBe(codes.filter((code) => code === 'LOGIN_401001').length);
            await answers(() => ldapLogin(service, user.loginName, directoryPassword), 'success');
          },
        };
      },
    },
    {
      name: 'captcha',
      proxy: () => proxies.get('captcha')!,
      boundMs: promisedMs.captcha,
      request: 'POST',
      given: async () => {
        const user = await newUser();
        const used: string[] = [];
        const logIn = (captcha_token: string) => service.login(user.loginName, undefined, { captcha_token });
        return {
          ask: () => {
            used.push(`token-${randomUUID()}`);
            return logIn(used.at(-1)!);
          },
          usual: 'success',
          outage: 'CAPTCHA_503001',
          recovers: async (codes) => {
            // A token that no provider could judge is not spent, and every token is spent once.
            const unspent = used.filter((_token, n) => codes[n] === 'CAPTCHA_503001');
            for (const token of unspent) await answers(() => logIn(token), 'success');
            for (const token of used) expect(codeOf(await logIn(token))).toBe('CAPTCHA_401001');
          },
        };
      },
    },
    {
      name: 'breach',
      proxy: () => proxies.get('breach')!,
      boundMs: promisedMs.breach,
      request: 'GET',
      given: async () => {
        const owner = async () => {
          const user = await newUser();
          return { user, access: (await service.app.get(SessionOpener).open(user, browser, null)).accessToken };
        };
        const change = ({ access }: { access: string }) => {
          const body = { current_password: password, password: breached, confirm_password: breached };
          return service.post('/user/change-password', body, { bearer: access });
        };
        const owners = await Promise.all(Array.from({ length: asks }, owner));
        const waiting = [...owners];
        return {
          ask: () => change(waiting.shift()!),
          usual: 'AUTH_400007',
          outage: 'success',
          recovers: async (codes) => {
            for (const [n, { user }] of owners.entries()) {
              const passwords = await service.count('user_change_pwd_logs', 'user_id = ?', [user.uid]);
              expect(passwords).toBe(codes[n] === 'success' ? 2 : 1);
            }
            await answers(async () => change(await owner()), 'AUTH_400007');
          },
        };
      },
    },
    {
      name: 'webhook',
      proxy: () => proxies.get('webhook')!,
      boundMs: promisedMs.atOnce,
      request: 'POST',
      background: true,
      given: async () => {
        const user = await newUser();
        let asked = 0;
        return {
          ask: () => {
            asked++;
            return service.login(user.loginName);
          },
          usual: 'success',
          recovers: async (_codes, { how }) => {
            const own = () => receiver.accepted.filter(({ data }) => data.user_id === user.uid).map(({ id }) => id);
            await eventually(
              async () => {
                await settled();
                return new Set(own()).size >= asked;
              },
              { what: 'the events arrive' },
            );
            // An event that the receiver has got and not confirmed is sent again, with the same id.
            expect(new Set(own()).size).toBe(asked);
            if (!how.startsWith('loses')) expect(own()).toHaveLength(asked);
          },
        };
      },
    },
  ];

  async function timed(ask: () => Promise<Answer>, boundMs: number): Promise<string> {
    const lost = lostTime();
    const began = performance.now();
    let timer: NodeJS.Timeout | undefined;
    // Without a time limit in the service, the answer would never come.
    const never = new Promise<'no answer'>((resolve) => {
      timer = setTimeout(() => resolve('no answer'), 120_000);
    });
    const code = await Promise.race([ask().then(codeOf), never]);
    clearTimeout(timer);
    const ms = performance.now() - began;
    const { totalMs } = lost();
    return ms < boundMs + marginMs + totalMs ? code : `${code} after ${Math.round(ms)} ms`;
  }

  describe.each(servers)('$name', ({ proxy, boundMs, request, background = false, given }) => {
    it.each(faults)(
      '$how: each request is answered in time, nothing is counted twice, and the service recovers',
      async (fault) => {
        // A machine that stands still longer than the limits of the service is a second fault. The trial is repeated.
        for (let attempt = 1; ; attempt++) {
          const lost = lostTime();
          try {
            return await trial(fault);
          } catch (error) {
            const isExcused = lost().longestMs > outageLikeMs || loadavg()[0]! > availableParallelism();
            if (attempt === 3 || !isExcused) throw error;
            await settled().catch(() => undefined);
          }
        }
      },
    );

    async function trial(fault: Fault): Promise<void> {
      const { ask, usual, outage = usual, recovers } = await given();
      const lostBefore = proxy().lostAnswers;
      let codes: string[];
      try {
        await fault.begin(proxy(), request);
        codes = await Promise.all(Array.from({ length: asks }, () => timed(ask, boundMs)));
        // Mails and events are sent beside the requests. A black hole would hold the attempt until its time limit.
        if (background && fault.dead && !fault.how.includes('black hole')) await settled();
      } finally {
        await proxy().forward();
      }
      expect(codes.filter((code) => code !== outage && (fault.dead || code !== usual))).toEqual([]);
      await recovers(codes, fault);
      if (fault.how.startsWith('loses')) expect(proxy().lostAnswers).toBeGreaterThan(lostBefore);
    }
  });

  it('the log tells of no error that nobody expects', () => {
    const lines = service.logLines.map((line) => JSON.stringify(line));
    expect(lines.filter((line) => /COMMON_500001|unhandled|uncaught/i.test(line))).toEqual([]);
  });
});
