import { decodeJwt } from 'jose';
import type { Page } from 'playwright-core';
import { becomes } from '../support/browser/becomes';
import { on, PortalSite } from '../support/browser/portal-site';
import { ProofMaker } from '../support/proof';
import { eventually } from '../support/servers/eventually';

/** All that a script, or a thief of the disk, can read of a page: each storage, and each key of it that can be read. */
const dump = `(async () => {
  const records = [];
  for (const { name } of await indexedDB.databases()) {
    const database = await new Promise((done, failed) => {
      const request = indexedDB.open(name);
      request.onsuccess = () => done(request.result);
      request.onerror = failed;
    });
    for (const store of database.objectStoreNames) {
      const all = database.transaction(store).objectStore(store).getAll();
      records.push(...(await new Promise((done) => (all.onsuccess = () => done(all.result)))));
    }
    database.close();
  }
  const keys = records.flatMap((record) => Object.values(record)).filter((value) => value instanceof CryptoKey);
  const exported = await Promise.all(
    keys
      .filter(({ type }) => type === 'private')
      .flatMap((key) => ['jwk', 'pkcs8'].map((format) => crypto.subtle.exportKey(format, key)))
      .map((exporting) => exporting.then(() => 'exported', ({ name }) => name)),
  );
  const storages = { local: { ...localStorage }, session: { ...sessionStorage } };
  return { ...storages, cookies: document.cookie, records: JSON.stringify(records), exported };
})()`;

interface Dump {
  readonly local: Record<string, string>;
  readonly session: Record<string, string>;
  readonly cookies: string;
  readonly records: string;
  readonly exported: readonly string[];
}

describe.each(['optional', 'required'])('tokens that are bound to a key of the browser, TOKEN_BINDING=%s', (mode) => {
  let site: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start({ TOKEN_BINDING: mode });
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const tokensOf = (page: Page) =>
    page.evaluate<{ access: string; refresh: string }>(`JSON.parse(localStorage.getItem('portal-auth.session'))`);
  const hello = (page: Page, name: string) => on(page).heading(`Hello, ${name}`).waitFor();

  it('a dump of the whole storage, replayed from elsewhere, gets nothing (T440, T445)', async () => {
    const { page, name } = await site.signedIn();
    const stolen = await page.evaluate<Dump>(dump);
    expect(stolen.exported).toEqual(['InvalidAccessError', 'InvalidAccessError']);
    const { access, refresh } = JSON.parse(stolen.local['portal-auth.session']!) as { access: string; refresh: string };

    const thief = ProofMaker.make(site.service.clock, { origin: site.url });
    const attempts = [
      ['GET', '/user/me', access],
      ['POST', '/refresh', refresh],
      ['POST', '/logout', refresh],
      ['POST', '/logout', access],
    ] as const;
    for (const [method, path, token] of attempts) {
      for (const headers of [
        { authorization: `Bearer ${token}` },
        { authorization: `DPoP ${token}` },
        thief.with(token, method, path),
        { ...thief.with(token, method, path), authorization: `Bearer ${token}` },
      ]) {
        const answer = await fetch(site.url + path, { method, headers });
        const { error_code } = (await answer.json()) as { error_code: string };
        expect([path, answer.status, error_code]).toEqual([path, 401, 'AUTH_401011']);
      }
    }

    // Another browser with the same storage. The keys are not in the dump, so it has none.
    const elsewhere = await site.visitor();
    await elsewhere.goto('/forgot');
    const { local, session } = stolen;
    await elsewhere.evaluate(`for (const [storage, values] of ${JSON.stringify(Object.entries({ localStorage: local, sessionStorage: session }))})
      for (const [key, value] of Object.entries(values)) window[storage].setItem(key, value)`);
    await elsewhere.goto('/account');
    await elsewhere.getByText('Your session has ended. Please sign in again.').waitFor();
    await becomes(() => elsewhere.evaluate(`localStorage.getItem('portal-auth.session')`), null);

    await page.reload();
    await hello(page, name);
    expect(await tokensOf(page)).toEqual({ access, refresh });
  });

  it('a reload, a second tab, a refresh and a sign-out work, and each request with a token has a proof', async () => {
    const { page, name } = await site.signedIn();
    const schemes = new Set<string>();
    page.context().on('request', (request) => {
      const { authorization, dpop } = request.headers();
      if (authorization !== undefined)
        schemes.add(`${authorization.split(' ')[0]!} ${dpop === undefined ? 'alone' : 'proof'}`);
    });
    await page.reload();
    await hello(page, name);
    const second = await page.context().newPage();
    await second.goto('/account');
    await hello(second, name);
    const before = await tokensOf(page);
    site.service.clock.advanceSeconds(1000);
    await page.reload();
    await hello(page, name);
    const after = await tokensOf(page);
    expect(after.access).not.toBe(before.access);
    await second.reload();
    await hello(second, name);
    await on(second).signOut();
    await on(page).heading('Sign in').waitFor();
    expect([...schemes]).toEqual(['DPoP proof']);
    const key = ProofMaker.make(site.service.clock, { origin: site.url });
    const refused = await fetch(`${site.url}/refresh`, {
      method: 'POST',
      headers: key.with(after.refresh, 'POST', '/refresh'),
    });
    expect(refused.status).toBe(401);
  });

  it('a sign-out without a connection ends the session when the connection is back, also after a reload', async () => {
    const { page } = await site.signedIn();
    const { access } = await tokensOf(page);
    const { sid } = decodeJwt(access);
    const open = () =>
      site.service.database.rows('SELECT 1 FROM login_tokens WHERE sid = ? AND NOT is_revoked', [String(sid)]);
    expect(await open()).not.toEqual([]);
    await page.route('**/logout', (route) => route.abort());
    await on(page).signOut();
    await page.getByText('You are signed out on this device, but the service could not be reached.').waitFor();
    expect(site.takeComplaints()).toEqual([expect.stringContaining('net::ERR_FAILED')]);
    await page.unroute('**/logout');
    await page.reload();
    await eventually(async () => (await open()).length === 0, { what: 'the end of the session' });
    // The answer comes after the end of the session.
    await becomes(() => page.evaluate(`localStorage.getItem('portal-auth.sign-outs')`), null);
  });

  it('a browser that has lost its key asks for a sign-in once, which makes a new key', async () => {
    const { page, name } = await site.signedIn();
    await page.evaluate(`new Promise((done) => (indexedDB.deleteDatabase('portal-auth.key').onsuccess = done))`);
    await page.reload();
    await page.getByText('Your session has ended. Please sign in again.').waitFor();
    await on(page).logIn(name);
    await hello(page, name);
    await page.reload();
    await hello(page, name);
  });

  it('a browser that stores no keys goes on without one, or says why nobody can sign in', async () => {
    const name = await site.newUser();
    const page = await site.visitor();
    await page.addInitScript(
      `IDBObjectStore.prototype.put = () => { throw new DOMException('no', 'DataCloneError'); }`,
    );
    await page.goto('/');
    if (mode === 'required') await page.getByText('this browser does not store one').waitFor();
    await on(page).logIn(name);
    if (mode === 'required') {
      await on(page).alert().getByText('this browser does not store one').waitFor();
      expect(await page.getByText('this browser does not store one').count()).toBe(1);
    } else {
      await hello(page, name);
      await page.reload();
      await hello(page, name);
    }
  });
});
