import { DataSource } from 'typeorm';
import { Retention } from '../../src/retention/retention';
import { RetentionModule } from '../../src/retention/retention.module';
import { AppModule } from '../../src/app.module';
import { Module } from '@nestjs/common';
import type { AppConfig } from '../../src/settings/app-config';
import { TestService } from '../support/app';
import { countStatements } from '../support/count-statements';
import { newMails, recipients } from '../support/reset';

const agents = {
  firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  newerFirefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0',
  chrome:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  script: 'curl/8.5.0',
} as const;
type Agent = keyof typeof agents;

/** The service with the module of `purge`, which belongs to the command line. */
const withRetention = (config: AppConfig) => {
  @Module({ imports: [AppModule.with(config), RetentionModule] })
  class Root {}
  return { module: Root };
};

describe('NEW_SIGN_IN_NOTICE', () => {
  let service: TestService;

  beforeEach(async () => {
    service = await TestService.start({ NEW_SIGN_IN_NOTICE: 'true' }, { module: withRetention });
  });
  afterEach(() => service.stop());

  const login = async (name: string, agent: Agent, ip = '203.0.113.7', by = service) => {
    const answer = await by.login(name, undefined, {}, { ip, headers: { 'user-agent': agents[agent] } });
    expect(answer.status).toBe(200);
  };
  const notices = async () => (await newMails(service)).filter(({ subject }) => subject?.includes('sign-in'));

  it('a login from a new browser sends one mail that says when, which browser and which address', async () => {
    await service.givenUser('alice');
    await login('alice', 'firefox');
    expect(await notices()).toEqual([]);
    await login('alice', 'chrome', '198.51.100.9');
    const [mail, ...more] = await notices();
    expect(more).toEqual([]);
    expect(recipients(mail)).toEqual(['alice@example.com']);
    expect(mail?.text).toContain('Browser: Chrome, Windows');
    expect(mail?.text).toContain('IP address: 198.51.100.9');
    expect(mail?.text).toContain('Time: 2026-03-02 10:00 UTC');
    expect(`${mail?.text}${mail?.html}`).not.toMatch(/https?:|<a /);
    await login('alice', 'chrome');
    await login('alice', 'firefox');
    expect(await notices()).toEqual([]);
  });

  it('an update of the browser and another address are no new browser', async () => {
    await service.givenUser('alice');
    await login('alice', 'firefox');
    await login('alice', 'newerFirefox', '198.51.100.9');
    expect(await notices()).toEqual([]);
  });

  it('a program without a known name is one browser, and no text of it reaches the mail (T291)', async () => {
    await service.givenUser('alice');
    await login('alice', 'firefox');
    await login('alice', 'script');
    const [mail] = await notices();
    expect(mail?.text).toContain('Browser: unknown');
    expect(mail?.text).not.toContain('curl');
  });

  it('a browser that was used before the setting was turned on is known', async () => {
    await service.givenUser('alice');
    const before = await TestService.start({}, { store: service.store, clock: service.clock });
    await login('alice', 'firefox', undefined, before);
    expect(await service.count('known_browsers')).toBe(0);
    await before.stop({ keepStore: true });
    await login('alice', 'newerFirefox');
    expect(await notices()).toEqual([]);
    await login('alice', 'chrome');
    expect(await notices()).toHaveLength(1);
  });

  it('a refused login makes no browser known and sends no mail', async () => {
    await service.givenUser('alice');
    await login('alice', 'firefox');
    const headers = { 'user-agent': agents.chrome };
    expect((await service.login('alice', 'Wrong-Horse-7', {}, { headers })).status).toBe(401);
    expect(await notices()).toEqual([]);
    expect(await service.count('known_browsers')).toBe(1);
    await login('alice', 'chrome');
    expect(await notices()).toHaveLength(1);
  });

  it('the browsers of one account are unknown for another', async () => {
    for (const name of ['alice', 'bob']) {
      await service.givenUser(name);
      await login(name, 'firefox');
    }
    await login('alice', 'chrome');
    expect((await notices()).map((mail) => recipients(mail))).toEqual([['alice@example.com']]);
  });

  it('an account without an address gets no mail and stores no browser', async () => {
    await service.givenUser('silent', { email: null });
    await login('silent', 'firefox');
    await login('silent', 'chrome');
    expect(await service.count('known_browsers')).toBe(0);
    expect(await service.count('mail_outbox')).toBe(0);
  });

  it('a known browser costs a login one statement; without the setting it costs none', async () => {
    const without = await TestService.start({}, { store: service.store, clock: service.clock });
    await service.givenUser('alice');
    const statementsOf = async (each: TestService) => {
      await login('alice', 'firefox', undefined, each);
      const counted = countStatements(each.app.get(DataSource));
      return counted(() => login('alice', 'firefox', undefined, each));
    };
    expect((await statementsOf(service)) - (await statementsOf(without))).toBe(1);
    await without.stop({ keepStore: true });
  });

  it('purge forgets a browser as late as the logins from it, and a browser in use stays known', async () => {
    const forDays = (count: number) => service.clock.advanceSeconds(count * 86_400);
    const dormancy = "UPDATE users SET last_login_success_time = '2100-01-01 00:00:00.000'";
    await service.givenUser('alice', { passwordSetAt: new Date('2030-01-01T00:00:00Z') });
    await login('alice', 'firefox');
    await login('alice', 'chrome');
    for (let i = 0; i < 5; i++) {
      forDays(100);
      await service.database.affected(dormancy);
      await login('alice', 'firefox');
    }
    await service.app.get(Retention).purge();
    expect(await service.count('known_browsers')).toBe(1);
    await newMails(service);
    await service.database.affected(dormancy);
    await login('alice', 'firefox');
    expect(await notices()).toEqual([]);
    await login('alice', 'chrome');
    expect(await notices()).toHaveLength(1);
  });
});
