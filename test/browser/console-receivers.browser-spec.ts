import type { Page } from 'playwright-core';
import { ReceiverDelivery } from '../../src/events/receiver-delivery';
import { receiverLimits } from '../../src/events/receiver-limits';
import { givenTenant } from '../support/admin';
import { adminSettings, copiedSessions } from '../support/browser/admin-data';
import { becomes } from '../support/browser/becomes';
import { look } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { testReceiverLimits } from '../support/events/event-replica';
import { answer, WebhookReceiver } from '../support/events/webhook-receiver';
import { openIdSettings } from '../support/openid';

// No automatic polls: the test decides when events are sent.
Object.assign(receiverLimits, testReceiverLimits);

const links = (page: Page) => page.locator('nav').getByRole('link').allTextContents();

/** docs/operations/events.md#receivers, in the console. */
describe('event receivers in the administration console', () => {
  let site: PortalSite;
  let siem: WebhookReceiver;
  let page: Page;

  beforeAll(async () => {
    siem = await WebhookReceiver.start();
    site = await PortalSite.start({ ...adminSettings, ...openIdSettings, ...copiedSessions, EVENT_RECEIVERS: 'on' });
    page = await opened({ isAdmin: true });
  });
  afterAll(async () => {
    await site.stop();
    await siem.stop();
  });
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  /** The console of a new user. */
  const opened = async (user: Parameters<PortalSite['newUser']>[0]): Promise<Page> => {
    const visitor = await site.visitor();
    await visitor.goto('/admin');
    await on(visitor).logIn(await site.newUser(user));
    await on(visitor).heading('Overview').waitFor();
    return visitor;
  };
  const visit = async (path: string, heading: string) => {
    await page.goto(`/admin#${path}`);
    await on(page).heading(heading).waitFor();
  };
  const act = async (button: RegExp, confirm: string) => {
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('dialog').getByRole('button', { name: confirm }).click();
  };
  const field = (label: string) => page.locator('main').getByLabel(label, { exact: true });

  it('a refused form says what is wrong beside each field; the added receiver shows its secret once', async () => {
    await visit('/event-receivers', 'Event receivers');
    await page.getByText('There are no event receivers yet').waitFor();
    await on(page).link('New event receiver').click();
    await on(page).heading('New event receiver').waitFor();
    await on(page).button('Add event receiver').click();
    await page.getByText('Enter 1 to 40 lower-case letters, digits and hyphens.').waitFor();
    await page.getByText('Enter the address, for example https://siem.example.com/events.').waitFor();
    expect(await field('Name').getAttribute('aria-invalid')).toBe('true');
    await field('Name').fill('siem');
    await field('Address').fill('ftp://siem.example.com');
    await field('Types').fill('user.everything');
    await field('Tenants').fill('nobody');
    await on(page).button('Add event receiver').click();
    await page.getByText(/^Is no type of an event: give one such as user\.deleted/).waitFor();
    for (const label of ['Address', 'Types']) {
      expect([label, await field(label).getAttribute('aria-invalid')]).toEqual([label, 'true']);
    }
    await look(page, 'receiver-refused');
    await field('Address').fill(siem.url);
    await field('Types').fill('user.*');
    await on(page).button('Add event receiver').click();
    await page.getByText('Is not the id of a tenant').waitFor();
    await field('Tenants').fill('');
    await page.getByLabel('Form of the events').selectOption('set');
    await field('Audience (aud)').fill('https://siem.example.com');
    await page.getByLabel('Form of the events').selectOption('cloudevents');
    await on(page).button('Add event receiver').click();
    await on(page).heading('siem').waitFor();
    const secret = (await page.locator('.code-block pre').textContent()) ?? '';
    expect(secret).toMatch(/^whsec_/);
    await look(page, 'receiver-secret');
    await on(page).button('I have stored it').click();
    await page.getByText(secret).waitFor({ state: 'detached' });
    await page.reload();
    await on(page).heading('siem').waitFor();
    await page.getByText('CloudEvents 1.0').waitFor();
    expect(await page.getByText(secret).count()).toBe(0);
    expect(await page.getByText('Audience (aud)').count()).toBe(0);
  });

  it('a test event, a pause with undo, a new secret, and events once more', async () => {
    await visit('/event-receivers/siem', 'siem');
    await on(page).button('Send a test event').click();
    await page.getByText('The receiver has accepted the event.').waitFor();
    expect(siem.seen.at(-1)?.headers['content-type']).toContain('cloudevents');
    siem.behaviour = answer(503);
    await on(page).button('Send a test event').click();
    await page.getByText('The receiver has not accepted the event: status 503').waitFor();
    await act(/: Pause$/, 'Pause');
    await page.locator('.badge', { hasText: 'Paused' }).waitFor();
    await page.getByText('siem is paused.').waitFor();
    await on(page).button('Undo').click();
    await page.locator('.badge', { hasText: 'Sends' }).waitFor();
    await act(/: New secret$/, 'New secret');
    await page.getByText(/^whsec_/).waitFor();
    await page.getByText('Former secret signs until').waitFor();
    await on(page).button('I have stored it').click();
    await page.getByRole('button', { name: /: Send events once more$/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('From').fill('2026-01-01T00:00');
    await look(page, 'receiver-replay');
    await dialog.getByRole('button', { name: 'Send events once more' }).click();
    await page.getByText('The events are waiting to be sent once more.').waitFor();
  });

  it('a change stays when somebody else has saved the same field meanwhile, and the saved value can be taken', async () => {
    await visit('/event-receivers/siem', 'siem');
    await on(page).button('Edit').click();
    await field('Types').fill('login.*');
    await site.service.database.affected('UPDATE event_receivers SET types = ?', ['["session.*"]']);
    await on(page).button('Save').click();
    const clash = page.locator('.message.warning', { hasText: 'Somebody else has saved this meanwhile.' });
    await clash.waitFor();
    await becomes(() => clash.locator('dd').allTextContents(), ['session.*', 'login.*']);
    expect(await field('Types').inputValue()).toBe('login.*');
    await on(page).button('Take the saved value: Types').click();
    await becomes(() => field('Types').inputValue(), 'session.*');
    await on(page).button('Save').click();
    await page.getByText('The changes are saved.').waitFor();
    expect(await site.service.count('event_receivers', `types = '["session.*"]'`)).toBe(1);
    // The next test waits for the same message about its own change.
    await page.reload();
  });

  it('a receiver that refuses: its state, the overview and the checks of the connections say so', async () => {
    await site.service.givenUser('someone');
    siem.behaviour = answer(503);
    await visit('/event-receivers/siem', 'siem');
    await on(page).button('Edit').click();
    await field('Types').fill('');
    await on(page).button('Save').click();
    await page.getByText('The changes are saved.').waitFor();
    await site.service.app.get(ReceiverDelivery).sendDue();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.locator('.badge', { hasText: 'Fails' }).waitFor();
    await page.getByText(/^status 503/).waitFor();
    await look(page, 'receiver-fails');
    await visit('/event-receivers', 'Event receivers');
    await page.getByRole('cell', { name: 'Fails' }).waitFor();
    await look(page, 'receivers');
    // The service and the console remember an overview for ten seconds.
    site.service.clock.advanceSeconds(11);
    await visit('/', 'Overview');
    await page.reload();
    await page.getByText('The event receivers take their events.').waitFor();
    await on(page).button('Check connections').click();
    await page.getByText(/^Database: works/).waitFor();
    await page.getByText(/^Not set up: .*Directory \(LDAP\), Redis$/).waitFor();
    await look(page, 'overview-checked');
    const started = new Date(site.service.clock.now().getTime() - 1_000_000);
    await site.service.database.affected('UPDATE event_receivers SET failing_since = ?', [started]);
    site.service.clock.advanceSeconds(31);
    await page.reload();
    await page.getByText('Event receivers do not take their events: siem.').waitFor();
    await on(page).button('Check connections').click();
    await page.getByText(/^Event receivers: please look at it/).waitFor();
  });

  it('an auditor of the root tenant reads, and finds no button of a change; an administrator of a tenant finds no page', async () => {
    const mine = page;
    page = await opened({ role: 'auditor' });
    await becomes(() => links(page), expect.arrayContaining(['Event receivers']));
    expect(await on(page).button('Check connections').count()).toBe(0);
    await visit('/event-receivers', 'Event receivers');
    await on(page).link('siem').waitFor();
    expect(await on(page).link('New event receiver').count()).toBe(0);
    await visit('/event-receivers/siem', 'siem');
    await page.getByText('Waiting events').waitFor();
    await becomes(() => page.locator('main').getByRole('button').allTextContents(), ['Refresh']);
    await visit('/event-receivers/new', 'Page not found');
    await givenTenant(site.service, 'acme');
    page = await opened({ isAdmin: true, tenantId: 'acme' });
    expect(await links(page)).not.toContain('Event receivers');
    expect(await on(page).button('Check connections').count()).toBe(0);
    await visit('/event-receivers', 'Page not found');
    page = mine;
  });

  it('the palette leads to the page and to a new one; a deletion wants the name typed', async () => {
    await visit('/', 'Overview');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('event rec');
    await page.getByRole('option', { name: 'New event receiver' }).waitFor();
    await page.getByRole('option', { name: /^Event receivers/ }).click();
    await on(page).heading('Event receivers').waitFor();
    await on(page).link('siem').click();
    await page.getByRole('button', { name: /: Delete event receiver$/ }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Delete event receiver' }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('siem');
    await dialog.getByRole('button', { name: 'Delete event receiver' }).click();
    await on(page).heading('Event receiver deleted').waitFor();
    expect(await site.service.count('event_receivers')).toBe(0);
  });
});
