import type { Page } from 'playwright-core';
import { BreachStub, lineOf, range } from '../support/breach-stub';
import { becomes } from '../support/browser/becomes';
import { accessibilityViolations } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { mailedToken } from '../support/reset';

describe('the rules that only the service can judge, on the page for a new password', () => {
  const stub = new BreachStub();
  let site: PortalSite;
  let users = 0;

  beforeAll(async () => {
    await stub.listen();
    site = await PortalSite.start({ PASSWORD_BREACH_URL: stub.url });
    await setPolicy('{"forbid_common":true,"forbid_own_data":true,"breach_check":true}');
  });
  afterAll(async () => {
    await site.stop();
    await stub.close();
  });
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  async function setPolicy(value: string): Promise<void> {
    await site.service.database.affected('DELETE FROM system_configs');
    await site.service.database.affected(
      "INSERT INTO system_configs (tenant_id, `group`, `key`, value) VALUES ('root', 'CONFIG', 'PASSWORD_POLICY', ?)",
      [value],
    );
    site.service.clock.advanceSeconds(1);
  }

  const open = async (name: string): Promise<Page> => {
    await site.service.givenUser(name);
    const page = await site.visitor();
    await page.goto(`/reset-password?uid=${await mailedToken(site.service, `${name}@example.com`)}`);
    // The heading is there before the policy.
    await on(page).field('New password').waitFor();
    return page;
  };
  const save = async (page: Page, typed: string): Promise<void> => {
    await on(page).field('New password').fill(typed);
    await on(page).field('Repeat the new password').fill(typed);
    await on(page).button('Save password').click();
  };
  const problem = (page: Page, text: string) => page.locator('.field-error', { hasText: text }).waitFor();

  it('the page shows the rules, says which one the password broke, and accepts a better one', async () => {
    const name = `horseman${++users}`;
    const page = await open(name);
    await becomes(
      () => page.locator('.rules ul').last().locator('li').allTextContents(),
      [
        'be a common password, checked when you save',
        'contain your user name, your name or your e-mail name, checked when you save',
        'be known from a data breach, checked when you save',
      ],
    );
    await save(page, 'Password-2026!');
    await problem(page, 'Your password must not be a common password.');
    expect(await accessibilityViolations(page)).toEqual([]);
    // The message is about the password that was sent. It goes away as soon as another one is typed.
    await on(page).field('New password').fill('Password-2026!x');
    await page.locator('.field-error', { hasText: 'common password' }).waitFor({ state: 'detached' });
    await save(page, `Xy7-${name.toUpperCase()}`);
    await problem(page, 'Your password must not contain your user name');
    stub.behaviour = range(lineOf('Another-Horse-7-known', 3));
    await save(page, 'Another-Horse-7-known');
    await problem(page, 'Your password must not be known from a data breach.');
    await page.locator('footer select').first().selectOption('de');
    await problem(page, 'Ihr Passwort darf nicht aus einem Datenleck bekannt sein.');
    await page.locator('footer select').first().selectOption('zh-CN');
    await problem(page, '密码不得出现在已知的数据泄露中。');
    await page.locator('footer select').first().selectOption('en');
    await problem(page, 'Your password must not be known from a data breach.');
    await save(page, 'Another-Horse-7-unknown');
    await page.getByText('Your password has been changed.').waitFor();
  });

  it('a policy without these rules shows none of them', async () => {
    await setPolicy('{}');
    const page = await open(`user${++users}`);
    await becomes(() => page.locator('.rules ul').count(), 1);
    expect(await page.getByText('It must not').count()).toBe(0);
  });
});
