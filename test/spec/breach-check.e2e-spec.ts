import { randomUUID } from 'node:crypto';
import { Test } from '@nestjs/testing';
import { CliModule } from '../../src/cli/cli.module';
import { UserAdministration } from '../../src/admin/user-administration';
import { DemoModule } from '../../src/demo/demo.module';
import { AppConfig } from '../../src/settings/app-config';
import type * as BoundedRequests from '../../src/platform/http/bounded-request';
import { answer, BreachStub, lineOf, range, sha1 } from '../support/breach-stub';
import { password, TestService } from '../support/app';
import { freePort } from '../support/servers/free-port';
import { codeOf, goodPassword, mailedToken, submit } from '../support/reset';

/** A busy machine may need longer than the two seconds of a check. Only the tests of that time-out keep it. */
let mockPatience = 10;
// eslint-disable-next-line no-restricted-syntax -- changes a number, not what the module does
jest.mock('../../src/platform/http/bounded-request', () => {
  const actual = jest.requireActual<typeof BoundedRequests>('../../src/platform/http/bounded-request');
  const boundedRequest: typeof actual.boundedRequest = (url, limits, ...more) =>
    actual.boundedRequest(url, { ...limits, timeoutMs: mockPatience * limits.timeoutMs }, ...more);
  return { ...actual, boundedRequest };
});

const warning = 'the breach check got no usable answer, the password was accepted without it';

describe('the breach check of a new password', () => {
  let stub: BreachStub;
  let service: TestService;
  let metricsUrl: string;
  let users = 0;

  beforeAll(async () => {
    stub = new BreachStub();
    await stub.listen();
    const port = await freePort();
    metricsUrl = `http://127.0.0.1:${port}/metrics`;
    service = await TestService.start({ PASSWORD_BREACH_URL: stub.url, METRICS_PORT: `${port}` });
    await setPolicy('{"breach_check":true}');
  });
  afterAll(async () => {
    await service.stop();
    await stub.close();
  });
  beforeEach(() => {
    stub.behaviour = range();
    stub.seen.length = 0;
    mockPatience = 10;
  });

  async function setPolicy(value: string): Promise<void> {
    await service.database.affected('DELETE FROM system_configs');
    await service.database.affected(
      "INSERT INTO system_configs (tenant_id, `group`, `key`, value) VALUES ('root', 'CONFIG', 'PASSWORD_POLICY', ?)",
      [value],
    );
    service.clock.advanceSeconds(1);
  }

  const givenLink = async () => {
    const name = `user${++users}`;
    await service.givenUser(name);
    return mailedToken(service, `${name}@example.com`);
  };
  const warnings = () => service.logLines.filter(({ msg }) => msg === warning).map(({ reason }) => reason);
  const failures = async () => {
    const text = await (await fetch(metricsUrl)).text();
    return Number(/^auth_password_breach_check_failures_total (\d+)$/m.exec(text)?.[1]);
  };

  it('a known password is refused by the rule breach_check, whatever the case of the hex digits', async () => {
    const token = await givenLink();
    const chosen = goodPassword('known');
    for (const line of [lineOf(chosen, 3), lineOf(chosen, 3).toLowerCase(), lineOf(chosen, '999999999999999')]) {
      stub.behaviour = range(line);
      expect((await submit(service, token, chosen)).body).toMatchObject({
        error_code: 'AUTH_400007',
        data: { rules: ['breach_check'] },
      });
    }
    expect(codeOf(await submit(service, token, goodPassword('unknown')))).toBe('success');
  });

  it('a line of padding, with the count 0, does not refuse the password', async () => {
    const token = await givenLink();
    const chosen = goodPassword('padding');
    stub.behaviour = range(lineOf(chosen, 0));
    expect(codeOf(await submit(service, token, chosen))).toBe('success');
  });

  it('nothing but five hex digits of the SHA-1 leaves the service (T289)', async () => {
    const token = await givenLink();
    const chosen = goodPassword('secret');
    await submit(service, token, chosen);
    expect(stub.seen).toEqual([
      {
        method: 'GET',
        url: `/range/${sha1(chosen).slice(0, 5)}`,
        headers: {
          host: expect.any(String),
          connection: expect.any(String),
          accept: 'text/plain',
          'accept-encoding': expect.any(String),
          'accept-language': '*',
          'add-padding': 'true',
          'sec-fetch-mode': 'cors',
          'user-agent': 'node',
        },
        body: '',
      },
    ]);
    const everything = JSON.stringify(stub.seen).toLowerCase();
    for (const secret of [chosen, token, sha1(chosen).slice(0, 6), `user${users}`]) {
      expect(everything).not.toContain(secret.toLowerCase());
    }
  });

  it('without a good link, and for a password that another rule refuses, nothing is asked', async () => {
    const token = await givenLink();
    await submit(service, randomUUID(), goodPassword('x'));
    await submit(service, token, 'Password-2026!');
    await submit(service, token, `Horse-user${users}-X7`);
    await submit(service, token, goodPassword('x'), goodPassword('y'));
    expect(stub.seen).toEqual([]);
    expect(codeOf(await submit(service, token, goodPassword('x')))).toBe('success');
    await submit(service, token, goodPassword('z'));
    expect(stub.seen).toHaveLength(1);
  });

  it('a policy without breach_check asks nothing', async () => {
    await setPolicy('{}');
    expect(codeOf(await submit(service, await givenLink(), goodPassword('off')))).toBe('success');
    expect(stub.seen).toEqual([]);
    await setPolicy('{"breach_check":true}');
  });

  it.each<[string, BreachStub['behaviour'], string | RegExp]>([
    ['answers an error', answer('', 503), 'status 503'],
    ['answers another page', answer('<html>Sign in to the network</html>'), 'nonsense'],
    ['answers nothing', answer(''), 'nonsense'],
    ['answers negative counts', range(lineOf(goodPassword('lie'), '-5')), 'nonsense'],
    ['answers counts that are no numbers', range(lineOf(goodPassword('lie'), '1e9')), 'nonsense'],
    ['answers whole hashes', range(`${sha1(goodPassword('lie'))}:5`), 'nonsense'],
    ['answers JSON', answer('{"breached":true}'), 'nonsense'],
    ['answers 4 MB', answer(`${`${lineOf(goodPassword('lie'), 5)}\r\n`.repeat(100_000)}`), 'too large'],
    ['redirects', (response) => response.writeHead(302, { location: `${stub.url}other` }).end(), 'redirect'],
    [
      'closes the connection',
      (_response, request) => request.socket.resetAndDestroy(),
      /^(ECONNRESET|UND_ERR_SOCKET)$/,
    ],
    ['never answers', () => undefined, 'timeout'],
    ['never ends its answer', (response) => void response.writeHead(200).write('0'), 'timeout'],
  ])(
    'a service that %s does not stop the change: a log line and the metric say so (T289)',
    async (_how, behaviour, reason) => {
      const token = await givenLink();
      const [logged, counted] = [warnings().length, await failures()];
      stub.behaviour = behaviour;
      if (reason === 'timeout') mockPatience = 1;
      expect(codeOf(await submit(service, token, goodPassword('lie')))).toBe('success');
      // One request: nothing is asked again, and a redirect is not followed.
      expect(stub.seen).toHaveLength(1);
      expect(warnings().slice(logged)).toEqual([expect.stringMatching(reason)]);
      expect(await failures()).toBe(counted + 1);
    },
  );

  it('an unreachable service does not stop the change, and the log does not quote its address', async () => {
    // Before the second service, which would also send the mail, to a folder of its own.
    const token = await givenLink();
    const away = await TestService.start(
      { PASSWORD_BREACH_URL: `http://breach-user:hidden-word@127.0.0.1:1/range/` },
      { store: service.store, clock: service.clock },
    );
    expect(codeOf(await submit(away, token, goodPassword('away')))).toBe('success');
    const text = JSON.stringify(away.logLines);
    expect(text).toContain(warning);
    expect(text).not.toMatch(/hidden-word|breach-user/);
    await away.stop({ keepStore: true });
  });

  it('the commands of the operator judge by the same rules, and --force waives them', async () => {
    const module = await Test.createTestingModule({ imports: [CliModule.with(service.app.get(AppConfig))] }).compile();
    await module.init();
    const administration = module.get(UserAdministration);
    const owner = { loginName: 'operated', nickname: 'Opera Singer', email: 'someone@example.com' };
    const known = goodPassword('operator');
    stub.behaviour = range(lineOf(known, 1));
    const refused = (typed: string) => administration.hash(typed, owner).then(String, (e: Error) => e.message);
    expect(await refused(known)).toMatch(/it is known from a data breach; --force/);
    expect(await refused('Xy-opera singer-7')).toMatch(/it contains a name of its owner; --force/);
    expect(await refused('Password-2026!')).toMatch(/it is a common password; --force/);
    expect(await administration.hash(known, owner, 'waived')).toMatch(/^\$2/);
    expect(await administration.hash(password, owner)).toMatch(/^\$2/);
    await module.close();
  });
});

describe('the policy of the demo', () => {
  it('allows common passwords and own names, unless a stored policy forbids them', async () => {
    const service = await TestService.start({}, { module: (config) => DemoModule.with(config) });
    try {
      const { data } = (await service.get('/password-policy', { headers: { host: 'localhost' } })).body;
      expect(data).toMatchObject({ forbid_common: false, forbid_own_data: false, breach_check: false });
    } finally {
      await service.stop();
    }
  });
});
