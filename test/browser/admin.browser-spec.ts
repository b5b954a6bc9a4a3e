import { readFileSync } from 'node:fs';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { givenPasskeyRow } from '../support/admin';
import { adminSettings, copiedSessions, seedInstallation } from '../support/browser/admin-data';
import { becomes } from '../support/browser/becomes';
import { accessibilityViolations, overflow, resize, schemes, sizes, takePicture } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { eventually } from '../support/servers/eventually';

type NewUser = Parameters<PortalSite['newUser']>[0];

const dialog = (page: Page) => page.getByRole('dialog');
const action = (page: Page, label: string) => page.getByRole('button', { name: new RegExp(`: ${label}$`) });
const placeOf = (page: Page): Promise<string> => page.evaluate<string>('location.hash');
const focused = (page: Page): Promise<string> => page.evaluate<string>('document.activeElement.textContent.trim()');
const open = (page: Page, place: string): Promise<void> =>
  page.evaluate<undefined>(`void (location.hash = ${JSON.stringify(place)})`);

describe('the administration console', () => {
  let site: PortalSite;
  let uids: Map<string, string>;
  let root: ReturnType<BrowserContext['storageState']>;

  beforeAll(async () => {
    site = await PortalSite.start({ ...adminSettings, ...copiedSessions });
    await seedInstallation(site.service);
    const rows = await site.service.database.rows<{ uid: string; login_name: string }>(
      'SELECT uid, login_name FROM users',
    );
    uids = new Map(rows.map(({ uid, login_name }) => [login_name, uid]));
    const name = await site.newUser({ isAdmin: true, nickname: 'Olivia Root' });
    const page = await site.visitor();
    await page.goto('/admin');
    await on(page).logIn(name);
    await on(page).heading('Overview').waitFor();
    root = page.context().storageState();
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  /** A place of the console in a new browser, which has the session of the administrator of the root tenant. */
  const opened = async (place: string, heading: string, options: BrowserContextOptions = {}): Promise<Page> => {
    const page = await site.visitor({ storageState: await root, ...options });
    await page.goto(`/admin${place}`);
    await on(page).heading(heading).waitFor();
    return page;
  };
  /** Another administrator, with a session of its own. */
  const signedIn = async (
    place: string,
    heading: string,
    more: NewUser = {},
  ): Promise<{ page: Page; name: string }> => {
    const name = await site.newUser({ isAdmin: true, ...more });
    const page = await site.visitor();
    await page.goto(`/admin${place}`);
    await on(page).logIn(name);
    await on(page).heading(heading).waitFor();
    return { page, name };
  };
  const userPage = (name: string): string => `#/users/${uids.get(name)!}`;
  const act = async (page: Page, label: string, done: string): Promise<void> => {
    await action(page, label).click();
    await dialog(page).getByRole('button', { name: label, exact: true }).click();
    await dialog(page).waitFor({ state: 'detached' });
    // The description of an action can be the sentence that tells of its success.
    await page.getByRole('status').filter({ hasText: done }).last().waitFor();
  };

  it('opens from the account page, only for administrators, and shows the last day as bars and as a table', async () => {
    const name = await site.newUser({ isAdmin: true });
    const page = await site.signIn(name);
    await on(page).link('Administration').click();
    await on(page).heading('Overview').waitFor();
    await page.getByRole('img', { name: /^Bar chart by hour/ }).waitFor();
    await page.getByText('Show as a table').click();
    await becomes(() => page.getByRole('table', { name: 'Sign-ins by hour' }).getByRole('row').count(), 25);

    const { page: other } = await site.signedIn();
    expect(await on(other).link('Administration').count()).toBe(0);
    await other.goto('/admin#/users');
    await on(other).heading('You are not an administrator').waitFor();
    expect(await other.getByRole('navigation').count()).toBe(0);
  });

  it('finds users while the administrator types, and an older answer never replaces a newer one', async () => {
    const page = await opened('#/users', 'Users');
    await page.getByRole('link', { name: 'Amelia Abbott' }).first().waitFor();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let done = (): void => undefined;
    const late = new Promise<void>((resolve) => (done = resolve));
    await page.route(/\/admin\/users\?.*query=am$/, async (route) => {
      const answer = await route.fetch();
      await held;
      // The page has aborted this request.
      await route.fulfill({ response: answer }).catch(() => undefined);
      done();
    });
    const asked = page.waitForRequest(/query=am$/);
    // "dana.c" finds the same rows. On a busy machine the page asks for it as well.
    const answered = page.waitForResponse(/query=dana\.costa$/);
    await page.keyboard.press('/');
    await page.keyboard.type('am');
    await asked;
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('dana.costa');
    await answered;
    // On a busy machine the page also shows the answers to the first letters.
    const shown = async () => (await page.locator('.row-link').allTextContents()).join();
    await eventually(async () => (await shown()) === 'Dana Costa,Dana Costa', { what: 'the answer to the whole name' });
    release();
    await late;
    expect(await shown()).toBe('Dana Costa,Dana Costa');
    expect(await placeOf(page)).toBe('#/users?query=dana.costa');

    await page.keyboard.press('ArrowDown');
    await becomes(() => focused(page), 'Dana Costa');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await on(page).heading('Dana Costa').waitFor();
    await eventually(async () => (await focused(page)) === 'Dana Costa', { what: 'the focus on the heading' });
    await page.goBack();
    await becomes(() => page.getByRole('searchbox').inputValue(), 'dana.costa');
  });

  it('shows further pages, and says when nothing matches', async () => {
    const page = await opened('#/users?tenant_id=root', 'Users');
    await page.locator('.row-link').nth(49).waitFor();
    await on(page).button('Show more').click();
    await page.locator('.row-link').nth(50).waitFor();
    await page.getByLabel('Lock').selectOption('true');
    await page.getByRole('searchbox').fill('nobody');
    await page.getByText('No user matches').waitFor();
    await on(page).button('Remove all filters').click();
    await page.locator('.row-link').nth(49).waitFor();
    await becomes(() => placeOf(page), '#/users');
  });

  it('creates a user, and has every action of the interface on its page', async () => {
    const page = await opened('#/users/new', 'New user');
    await on(page).button('Create user').click();
    await page.getByText('Enter a user name.').waitFor();
    await on(page).field('User name').fill('nora.new');
    await on(page).field('E-mail address').fill('amelia.abbott@example.com');
    await on(page).button('Create user').click();
    await on(page).alert().getByText('already in use').waitFor();
    await on(page).field('E-mail address').fill('nora@example.com');
    await on(page).field('Name (optional)').fill('Nora New');
    await on(page).button('Create user').click();
    await on(page).heading('Nora New').waitFor();

    await on(page).button('Edit').click();
    await on(page).field('Name').fill('Nora Newer');
    await on(page).button('Save').click();
    await on(page).heading('Nora Newer').waitFor();
    await act(page, 'Send invitation', 'The invitation is on its way.');
    await act(page, 'Send reset link', 'The mail with the reset link is on its way.');
    await act(page, 'Sign out everywhere', 'All sessions have ended.');
    await act(page, 'Reset second factor', 'The second factor is reset.');
    await act(page, 'Make administrator', 'The user is an administrator now.');
    await act(page, 'Remove administrator', 'The user is no longer an administrator.');
    await act(page, 'Disable user', 'The user is disabled.');
    await act(page, 'Enable user', 'The user is enabled.');

    await action(page, 'Delete user').click();
    const button = dialog(page).getByRole('button', { name: 'Delete user' });
    await dialog(page).getByLabel('Type nora.new to confirm').fill('nora');
    expect(await button.isDisabled()).toBe(true);
    await dialog(page).getByLabel('Type nora.new to confirm').fill('nora.new');
    await button.click();
    await on(page).heading('User deleted').waitFor();
    await on(page).link('To the users').click();
    await page.getByRole('searchbox').fill('nora');
    await page.getByText('No user matches').waitFor();
  });

  it('removes a passkey of a user, and shows the others before a promotion, which keeps or ends them', async () => {
    const count = (uid: string) => site.service.count('passkeys', 'user_id = ?', [uid]);
    const promoted = async (page: Page, end: boolean) => {
      await action(page, 'Make administrator').click();
      await dialog(page).getByText('Passkeys of this account: 1.').waitFor();
      await dialog(page).getByRole('listitem').getByText('Old phone').waitFor();
      if (end) await dialog(page).getByLabel('End these passkeys').check();
      await takePicture(page, 'console-promotion');
      expect(await accessibilityViolations(page)).toEqual([]);
      await dialog(page).getByRole('button', { name: 'Make administrator' }).click();
      await dialog(page).waitFor({ state: 'detached' });
      // The result of the first promotion can still be there.
      await page.getByText('The user is an administrator now.').last().waitFor();
    };
    const uid = uids.get('elif.abbott')!;
    for (const name of ['Laptop', 'Old phone']) await givenPasskeyRow(site.service, uid, name);
    const page = await opened(userPage('elif.abbott'), 'Elif Abbott');
    await on(page).button('Remove: Laptop').click();
    await dialog(page).getByRole('button', { name: 'Remove' }).click();
    await page.getByText('The passkey is removed.').waitFor();
    await on(page).button('Remove: Old phone').waitFor();
    // The message comes before the page has read the passkeys again.
    await on(page).button('Remove: Laptop').waitFor({ state: 'detached' });
    expect(await count(uid)).toBe(1);
    await promoted(page, false);
    expect(await count(uid)).toBe(1);
    await act(page, 'Remove administrator', 'The user is no longer an administrator.');
    await promoted(page, true);
    expect(await count(uid)).toBe(0);
    await on(page).button('Remove: Old phone').waitFor({ state: 'detached' });
  });

  it('unlocks a user, and offers nothing by which administrators lock themselves out', async () => {
    const { page, name } = await signedIn(userPage('dana.abbott'), 'Dana Abbott');
    await page.locator('.page-head').getByText('Locked').waitFor();
    await act(page, 'Unlock account', 'The account is unlocked.');
    await act(page, 'Require a new password', 'The next sign-in asks for a new password.');
    await action(page, 'Require a new password').and(page.locator(':disabled')).waitFor();
    await page.locator('.page-head').getByText('Locked').waitFor({ state: 'detached' });
    const { uid } = (await site.service.database.row<{ uid: string }>('SELECT uid FROM users WHERE login_name = ?', [
      name,
    ]))!;
    await open(page, `#/users/${uid}`);
    await on(page).heading(name).waitFor();
    for (const label of ['Disable user', 'Remove administrator', 'Delete user'])
      expect([label, await action(page, label).isDisabled()]).toEqual([label, true]);
  });

  it('marks a user who was unused for too long, and enables the user', async () => {
    await site.service.database.affected(
      "UPDATE users SET last_login_success_time = '2020-01-01', enabled_at = NULL WHERE login_name = 'dana.abbott'",
    );
    const page = await opened(userPage('dana.abbott'), 'Dana Abbott');
    const mark = page.locator('.page-head').getByText('Unused for too long');
    await mark.waitFor();
    await action(page, 'Disable user').waitFor();
    await act(page, 'Enable user', 'The user is enabled.');
    await mark.waitFor({ state: 'detached' });
    await action(page, 'Enable user').waitFor({ state: 'detached' });
  });

  it('offers no undo after a user is disabled who was unused for too long: it would let this user sign in', async () => {
    const name = 'dana.abbott';
    await site.service.database.affected(
      "UPDATE users SET status = 1, last_login_success_time = '2020-01-01', enabled_at = NULL WHERE login_name = ?",
      [name],
    );
    const page = await opened(userPage(name), 'Dana Abbott');
    await act(page, 'Disable user', 'The user is disabled.');
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await site.service.database.affected('UPDATE users SET status = 1 WHERE login_name = ?', [name]);
  });

  it('a dialog works by keyboard alone, and gives the focus back', async () => {
    const page = await opened(userPage('elif.berger'), 'Elif Berger');
    await action(page, 'Disable user').focus();
    await page.keyboard.press('Enter');
    await dialog(page).waitFor();
    await becomes(() => focused(page), 'Cancel');
    for (let press = 0; press < 4; press++) await page.keyboard.press('Tab');
    expect(await page.evaluate<boolean>(`document.activeElement.closest('dialog, body').matches('dialog, body')`)).toBe(
      true,
    );
    expect(await dialog(page).innerText()).toContain('signed out everywhere at once');
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await becomes(() => focused(page), 'Disable');
    await page.locator('.page-head').getByText('Enabled').waitFor();
  });

  it('the filters of a log are in the address, survive a reload, and hold for the export', async () => {
    const page = await opened('#/logins', 'Sign-ins');
    const withoutAddress = /\/admin\/login-logs\?(?!.*\bip=).*outcome=LOGIN_401001/;
    await page.getByRole('combobox', { name: 'Result' }).selectOption('LOGIN_401001');
    await page.getByLabel('IP address').fill('203.0.113.5');
    await page.waitForURL('/admin#/logins?outcome=LOGIN_401001&ip=203.0.113.5');
    await page.reload();
    await on(page).heading('Sign-ins').waitFor();
    await becomes(() => page.getByLabel('IP address').inputValue(), '203.0.113.5');
    const rows = page.locator('tbody tr');
    const answered = page.waitForResponse(withoutAddress);
    await page.getByLabel('IP address').fill('');
    // The rows of the filter before stay until the new ones are there.
    const { data } = (await (await answered).json()) as { data: { items: unknown[] } };
    const count = data.items.length;
    expect(count).toBeGreaterThan(1);
    await eventually(async () => (await rows.count()) === count, { what: 'the rows without the filter' });
    await page.getByRole('cell', { name: 'Wrong password' }).first().waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), on(page).button('Export').click()]);
    const lines = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { outcome: string }).outcome)).toEqual(
      Array.from({ length: count }, () => 'LOGIN_401001'),
    );
    await rows.first().getByRole('button', { name: 'Details' }).click();
    await page.locator('dt', { hasText: 'Request id' }).waitFor();
    await rows.first().getByRole('link').click();
    await page.getByRole('region', { name: 'Profile' }).waitFor();
    await on(page).link('Audit log about this user').click();
    await on(page).heading('Audit log').waitFor();
    expect(await page.getByLabel('User id').inputValue()).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('shows markup in the name of a user and of a browser as text, and runs nothing of it (T324)', async () => {
    const markup = '<img src=x onerror="window.owned=1"><script>window.owned=1</script>';
    const name = await site.newUser({ nickname: markup });
    const agent = { headers: { 'user-agent': markup }, ip: '198.51.100.77' };
    await site.service.login(name, 'wrong', {}, agent);
    await site.service.login(markup, 'wrong', {}, agent);
    const page = await opened(`#/users?query=${name}`, 'Users');
    const notRun = async () => {
      expect(await page.evaluate<unknown>('window.owned')).toBeUndefined();
      expect(await page.locator('img[src="x"]').count()).toBe(0);
    };
    await page.locator('.row-link', { hasText: markup }).first().waitFor();
    await notRun();
    await page.locator('.row-link', { hasText: markup }).first().click();
    await on(page).heading(markup).waitFor();
    await notRun();
    await open(page, '#/logins?ip=198.51.100.77');
    await on(page).heading('Sign-ins').waitFor();
    const rows = page.locator('tbody tr', { hasText: '198.51.100.77' });
    await rows.filter({ hasText: markup }).first().waitFor();
    await rows.first().getByRole('button', { name: 'Details' }).click();
    await page.locator('dt', { hasText: 'Request id' }).waitFor();
    await notRun();
  });

  it('edits the password policy as a form', async () => {
    const page = await opened('#/settings/password', 'Password policy');
    await on(page).field('Characters at least').fill('0');
    await on(page).button('Save policy').click();
    await page.getByText('Enter a whole number from 1 to 72.').waitFor();
    await on(page).field('Characters at least').fill('14');
    await page.getByRole('checkbox', { name: 'A special character' }).check();
    await on(page).button('Save policy').click();
    await page.getByText('The policy is saved.').waitFor();
    // Each replica keeps its copy of the settings for less than a second.
    site.service.clock.advanceSeconds(1);
    const { body } = await site.service.get('/password-policy');
    expect(body.data).toMatchObject({ min_length: 14, require_special: true });
    await on(page).button('Use the default').click();
    site.service.clock.advanceSeconds(1);
    await dialog(page).getByRole('button', { name: 'Use the default' }).click();
    await page.getByText('The default policy is in force.').waitFor();
    // The message comes before the page has read the policy again.
    await eventually(async () => (await on(page).field('Characters at least').inputValue()) === '12', {
      what: 'the default in the form',
    });
  });

  it('writes the mail settings, never shows the password again, and shows what the server says', async () => {
    const page = await opened('#/settings/mail', 'Mail server');
    await on(page).field('Host').fill('127.0.0.1');
    await on(page).field('Port').fill('9');
    await on(page).field('Sender').fill('Portal <portal@example.com>');
    await on(page).field('Password').fill('s3cret value');
    await on(page).button('Save settings').click();
    await page.getByText('A password is stored.').waitFor();
    expect(await page.content()).not.toContain('s3cret');
    await on(page).field('To').fill('postmaster@example.com');
    await on(page).button('Send test mail').click();
    await page.getByText('The mail was not accepted.').waitFor();
    expect((await page.locator('pre.reply').innerText()).length).toBeGreaterThan(5);
    for (const key of ['HOST', 'PORT', 'SENDER', 'SECRET'])
      await site.service.database.affected("DELETE FROM system_configs WHERE `group` = 'SMTP' AND `key` = ?", [key]);
  });

  it('sends a mail again that was given up', async () => {
    const page = await opened('#/mails?status=dead', 'Mails');
    const rows = page.locator('tbody tr');
    await rows.first().waitFor();
    await rows
      .first()
      .getByRole('button', { name: /^Send again/ })
      .click();
    await dialog(page).getByRole('button', { name: 'Send again' }).click();
    await page.getByText('The mail is waiting to be sent.').waitFor();
  });

  it('sends an event again that was given up, and the events of a time once more', async () => {
    const page = await opened('#/events?status=dead', 'Events');
    const again = page.locator('tbody tr').getByRole('button', { name: /^Send again/ });
    await again.first().click();
    await dialog(page).getByRole('button', { name: 'Send again' }).click();
    await page.getByText('The event is waiting to be sent.').waitFor();
    await on(page).button('Send events of a time').click();
    const send = dialog(page).getByRole('button', { name: 'Send events of a time' });
    expect(await send.isDisabled()).toBe(true);
    const local = (moment: Date) => moment.toISOString().slice(0, 16);
    await dialog(page)
      .getByLabel('From')
      .fill(local(new Date(Date.now() - 9 * 86_400_000)));
    await dialog(page)
      .getByLabel('Until')
      .fill(local(new Date(Date.now() + 2 * 86_400_000)));
    await send.click();
    await page.getByText(/^Events that are sent once more: [1-9]/).waitFor();
  });

  it('creates and renames tenants and units', async () => {
    const page = await opened('#/tenants', 'Tenants');
    await on(page).button('New tenant').click();
    await on(page).field('Name').fill('Umbrella');
    await page.keyboard.press('Enter');
    await page.getByText('Enter an id.').waitFor();
    await page.locator('input[aria-invalid=true]:focus').waitFor();
    await page.keyboard.type('no id/');
    await page.keyboard.press('Enter');
    await page.locator('.field-error').filter({ hasNotText: 'Enter an id.' }).waitFor();
    await on(page).field('Id').fill('umbrella');
    await page.locator('form').getByRole('button', { name: 'New tenant' }).click();
    await on(page).link('Umbrella').first().click();
    await on(page).heading('Umbrella').waitFor();
    await on(page).button('New unit').click();
    await on(page).field('Name').fill('Research');
    await on(page).field('Id').fill('umbrella-research');
    await page.locator('form').getByRole('button', { name: 'New unit' }).click();
    await on(page).button('Rename: Research').click();
    await on(page).field('Name').fill('');
    await page.keyboard.press('Enter');
    await page.getByText('Enter a name.').waitFor();
    await on(page).field('Name').fill('Development');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'Development', exact: true }).waitFor();
  });

  it('an administrator of another tenant sees this tenant alone', async () => {
    const { page } = await signedIn('#/users', 'Users', { tenantId: 'acme' });
    await page.getByRole('link', { name: 'Ben Abbott' }).first().waitFor();
    expect(await page.getByRole('link', { name: 'Amelia Abbott' }).count()).toBe(0);
    expect(await page.getByRole('navigation').innerText()).not.toMatch(
      /Tenants|Mails|Events|Mail server|Password policy/,
    );
    await open(page, '#/settings/mail');
    await page.getByText('Only administrators of the root tenant may see or change this.').waitFor();
    await open(page, userPage('amelia.abbott'));
    await on(page).heading('No such user').waitFor();
    await on(page).link('Units').click();
    await page.getByRole('cell', { name: 'acme-sales' }).waitFor();
  });

  it('speaks the three languages, without a reload and without leaving the place', async () => {
    const page = await opened('#/users?query=ben', 'Users');
    for (const [language, users, policy] of [
      ['de', 'Benutzer', 'Passwortregeln'],
      ['zh-CN', '用户', '密码策略'],
      ['en', 'Users', 'Password policy'],
    ]) {
      await page.locator('.side-choices select').first().selectOption(language!);
      await on(page).heading(users!).waitFor();
      await page.getByRole('navigation').getByText(policy!).waitFor();
      expect(await placeOf(page)).toBe('#/users?query=ben');
    }
  });

  it('says calmly that the administration is turned off, and asks for a second factor', async () => {
    const page = await opened('', 'Overview');
    const answer = async (code: string): Promise<void> => {
      await page.route('**/admin/overview', (route) =>
        route.fulfill({ status: Number(code.slice(-6, -3)), json: { error_code: code, msg: '' } }),
      );
      await page.goto('/admin');
    };
    await answer('COMMON_404001');
    await on(page).heading('Administration is turned off').waitFor();
    await page.unroute('**/admin/overview');
    await answer('AUTH_403001');
    await page.reload();
    await on(page).heading('Sign in with a second factor').waitFor();
    await on(page).link('Set up authenticator').click();
    await on(page).heading('Set up your authenticator app').waitFor();
  });

  // Moves the clock, so that the session of the other tests is an old one, too.
  it('an old session is asked for the password in place, and the action goes on', async () => {
    const { page } = await signedIn(userPage('farid.berger'), 'Farid Berger');
    site.service.clock.advanceSeconds(400);
    await action(page, 'Disable user').click();
    await dialog(page).getByRole('button', { name: 'Disable user' }).click();
    await on(page).confirmPassword();
    await page.getByRole('status').filter({ hasText: 'The user is disabled.' }).waitFor();
    expect(await placeOf(page)).toBe(userPage('farid.berger'));
  });

  describe.each(schemes)('in %s', (colorScheme) => {
    it('every page is accessible, and a phone does not scroll sideways, also with text of twice the size', async () => {
      const page = await opened('', 'Overview', { colorScheme });
      // The heading tells a page from the one before, which can match the selector as well.
      const places: (readonly [place: string, heading: string, ready: string])[] = [
        ['#/', 'Overview', 'svg[role=img]'],
        ['#/users?query=dana', 'Users', '.row-link'],
        ['#/users?query=nobody-at-all', 'Users', '.empty'],
        ['#/users/new', 'New user', 'form'],
        [userPage('hana.costa'), 'Hana Costa', '.action-list'],
        ['#/logins?outcome=LOGIN_401011', 'Sign-ins', 'tbody tr'],
        ['#/audit?event=TOTP_ENROLLED', 'Audit log', 'tbody tr'],
        ['#/mails?status=dead', 'Mails', 'tbody tr'],
        ['#/events', 'Events', 'tbody tr'],
        ['#/tenants', 'Tenants', 'tbody tr'],
        ['#/tenants/acme', 'Acme Corporation', 'tbody tr'],
        ['#/settings/password', 'Password policy', 'form'],
        ['#/settings/mail', 'Mail server', 'form'],
        ['#/settings/all', 'All settings', 'tbody tr'],
        ['#/nowhere', 'Page not found', '.empty'],
      ];
      const check = async (name: string): Promise<void> => {
        await page.locator('[aria-busy=true], .skeleton').first().waitFor({ state: 'detached' });
        for (const [size, viewport] of Object.entries(sizes)) {
          await resize(page, viewport);
          await takePicture(page, `console-${name}-${size}-${colorScheme}`);
          // The phone has the same colours as the desktop.
          if (size === 'desktop' || colorScheme === 'light')
            expect([name, size, await accessibilityViolations(page)]).toEqual([name, size, []]);
          expect([name, size, await overflow(page)]).toEqual([name, size, 0]);
        }
        // WCAG 1.4.4. The window still has the size of a phone.
        await page.evaluate('document.documentElement.style.fontSize = "200%"');
        await takePicture(page, `console-${name}-large-text-${colorScheme}`);
        expect([name, 'large text', await overflow(page)]).toEqual([name, 'large text', 0]);
        await page.evaluate('document.documentElement.style.fontSize = ""');
        await resize(page, sizes.desktop);
      };
      for (const [place, heading, ready] of places) {
        await open(page, place);
        await on(page).heading(heading).waitFor();
        await page.locator(ready).first().waitFor();
        await check(place.replace(/[0-9a-f-]{36}/, 'one').replace(/\W+/g, '-'));
      }
      await open(page, userPage('hana.costa'));
      await action(page, 'Delete user').click();
      await check('dialog');
      await page.keyboard.press('Escape');
      await dialog(page).waitFor({ state: 'detached' });
      await resize(page, sizes.phone);
      await on(page).button('Menu').click();
      await takePicture(page, `console-menu-phone-${colorScheme}`);
      expect(await accessibilityViolations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await becomes(() => focused(page), 'Menu');
    });
  });
});

it('a required second factor is explained, and its set-up leads into the console', async () => {
  const site = await PortalSite.start({ ...adminSettings, ADMIN_REQUIRES_MFA: 'true' });
  try {
    const page = await site.signIn(await site.newUser({ isAdmin: true }));
    await page.goto('/admin#/users');
    await on(page).heading('Sign in with a second factor').waitFor();
    await on(page).link('Set up authenticator').click();
    const secret = ((await page.locator('.key code').textContent()) ?? '').replaceAll(' ', '');
    await on(page).enterCode(site.authenticatorCode(secret));
    await on(page).link('Administration').click();
    await on(page).heading('Overview').waitFor();
  } finally {
    await site.stop();
  }
});
