import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { adminSettings, copiedSessions, seedInstallation } from '../support/browser/admin-data';
import { becomes } from '../support/browser/becomes';
import {
  accessibilityViolations,
  overflow,
  resize,
  schemes,
  sizes,
  still,
  takePicture,
} from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';

/** A name that reads like the end of a sentence and the beginning of another. */
const liar = 'Ben. Ada deleted Eve';
const hash = (page: Page): Promise<string> => page.evaluate<string>('decodeURIComponent(location.hash)');
const loaded = (page: Page): Promise<void> =>
  page.locator('[aria-busy=true], .skeleton, .searching').first().waitFor({ state: 'detached' });

describe('the logs and the overview of the console', () => {
  let site: PortalSite;
  let ada: string;

  beforeAll(async () => {
    site = await PortalSite.start({ ...adminSettings, ...copiedSessions });
    await seedInstallation(site.service);
    ada = await site.newUser({ isAdmin: true, nickname: 'Ada' });
    const ben = await site.newUser({ nickname: liar });
    const { database, clock } = site.service;
    const uidOf = async (name: string) =>
      (await database.row<{ uid: string }>('SELECT uid FROM users WHERE login_name = ?', [name]))!.uid;
    await database.affected(
      `INSERT INTO audit_logs (event, user_id, actor_id, ip, user_agent, request_id, detail, created_at)
       VALUES ('USER_STATUS_CHANGED', ?, ?, '192.0.2.77', 'x', 'q1', '{"from":1,"to":-1}', ?)`,
      [await uidOf(ben), await uidOf(ada), clock.secondsFromNow(-5)],
    );
    for (let n = 0; n < 4; n++) await site.service.login(`=root${n % 2}`, 'wrong', {}, { ip: '198.51.100.9' });
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const opened = async (place: string, heading: string, options = {}): Promise<Page> => {
    const page = await site.visitor(options);
    await page.goto('/');
    await on(page).logIn(ada);
    await on(page)
      .heading(/^Hello/)
      .waitFor();
    await page.goto(`/admin${place}`);
    await on(page).heading(heading).waitFor();
    await loaded(page);
    return page;
  };

  it('the audit log says in a sentence who did what, and a name is no part of it (T633)', async () => {
    const page = await opened('#/audit?ip=192.0.2.77', 'Audit log');
    const sentence = page.locator('tbody .sentence').first();
    // The names come after the rows.
    await becomes(() => sentence.innerText(), "Ada disabled Ben. Ada deleted Eve's account");
    await becomes(() => sentence.locator('a bdi').allInnerTexts(), ['Ada', liar]);
    await page.locator('tbody tr').first().getByRole('button', { name: 'Details' }).click();
    await on(page).link('All that this administrator did').click();
    await becomes(() => hash(page), expect.stringMatching(/actor_id=[0-9a-f-]{36}/));
    await page.goBack();
    await becomes(() => hash(page), '#/audit?ip=192.0.2.77');
  });

  it('a log is filtered by a person who is suggested, by a name that nobody has, and by one click', async () => {
    const page = await opened('#/logins', 'Sign-ins');
    const person = page.getByLabel('Person');
    await person.fill('hana.c');
    await page.locator('datalist option[value="hana.costa"]').waitFor({ state: 'attached' });
    await person.fill('hana.costa');
    await page.waitForURL('/admin#/logins?user=hana.costa');
    await person.fill('=root1');
    await person.press('Enter');
    await page.waitForURL('/admin#/logins?user=%3Droot1');
    await loaded(page);
    await page.getByText('No account').first().waitFor();
    await becomes(() => page.locator('tbody tr').count(), 2);
    await on(page).button('Failed').click();
    await on(page).button('Today').click();
    await becomes(() => hash(page), expect.stringMatching(/user==root1&outcome=failed&from=\d{4}-\d\d-\d\dT00:00$/));
    await page.reload();
    await loaded(page);
    const today = () => on(page).button('Today').getAttribute('aria-pressed');
    await becomes(today, 'true');
    await page.evaluate("location.hash = '#/logins?user=%3Droot1'");
    await becomes(today, 'false');
    await loaded(page);
    const [file] = await Promise.all([page.waitForEvent('download'), on(page).button('CSV').click()]);
    expect(file.suggestedFilename()).toMatch(/^login-logs-\d{4}-\d\d-\d\d\.csv$/);
    const text = readFileSync(await file.path(), 'utf8');
    expect([text.startsWith('\uFEFFcreated_at,login_name'), text.split(",'=root1,").length]).toEqual([true, 3]);
  });

  it('the overview says what is well, what is not, who fails and what changed', async () => {
    const page = await opened('', 'Overview');
    const status = page.getByRole('region', { name: 'To look at: 3' });
    await becomes(
      () => status.locator('.open a').allInnerTexts(),
      [
        'Some mails did not arrive. Waiting: 0, given up: 5.',
        'Somebody tries many names or passwords.',
        expect.stringMatching(/^Locked accounts: \d+/),
      ],
    );
    await becomes(() => status.locator('.well').count(), 3);
    await page.getByRole('region', { name: 'Second factors and passkeys' }).getByText('Neither').waitFor();
    await page.getByRole('region', { name: 'Last changes' }).getByText('disabled').first().waitFor();
    await page
      .getByRole('region', { name: 'Most refused passwords' })
      .getByRole('link', { name: '198.51.100.9' })
      .click();
    await page.waitForURL('/admin#/logins?ip=198.51.100.9&outcome=failed');
  });

  it('the pages are accessible in both colours, and a phone does not scroll sideways', async () => {
    const page = await opened('', 'Overview');
    const look = async (name: string) => {
      await loaded(page);
      for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await still(page);
        await takePicture(page, `logs-${name}-desktop-${colorScheme}`);
        expect([name, colorScheme, await accessibilityViolations(page)]).toEqual([name, colorScheme, []]);
      }
      await resize(page, sizes.phone);
      await takePicture(page, `logs-${name}-phone`);
      expect([name, await overflow(page)]).toEqual([name, 0]);
      await resize(page, sizes.desktop);
    };
    await look('overview');
    for (const [place, heading, name] of [
      // Few rows, so that the look at them is short.
      ['#/logins?ip=198.51.100.9', 'Sign-ins', 'logins'],
      ['#/audit?event=USER_STATUS_CHANGED', 'Audit log', 'audit'],
    ] as const) {
      await page.evaluate(`location.hash = '${place}'`);
      await on(page).heading(heading).waitFor();
      await loaded(page);
      await page.locator('tbody tr').first().getByRole('button', { name: 'Details' }).click();
      await look(name);
    }
  });
});
