import type { Page } from 'playwright-core';
import { password } from '../support/app';
import { on, PortalSite } from '../support/browser/portal-site';
import { VirtualAuthenticator } from '../support/browser/virtual-authenticator';
import { goodPassword } from '../support/reset';

const reports = '/?return_to=%2Freports%3Fx%3D1%26y%3D2';

describe('return_to of the login page', () => {
  let site: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start({ MFA_REQUIRED: 'false' });
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  /** `/reports` is a page of another program behind the same origin. */
  const open = async (path: string): Promise<Page> => {
    const page = await site.visitor();
    await page.route('**/reports*', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Reports</title><h1>Reports</h1>' }),
    );
    await page.goto(path);
    await on(page).heading('Sign in').waitFor();
    return page;
  };
  const atReports = async (page: Page): Promise<void> => {
    await on(page).heading('Reports').waitFor();
    await page.waitForURL(`${site.url}/reports?x=1&y=2`);
  };

  it('leads to the given page after the login, also after a reload, and only once', async () => {
    const loginName = await site.newUser();
    const page = await open(reports);
    await page.reload();
    await on(page).logIn(loginName);
    await atReports(page);
    await page.goto('/account');
    await on(page).signOut();
    await on(page).logIn(loginName);
    await on(page).heading(`Hello, ${loginName}`).waitFor();
  });

  it('leads a signed-in user to the given page at once, and Back does not redirect again', async () => {
    const loginName = await site.newUser();
    const page = await open('/');
    await on(page).logIn(loginName);
    await on(page).heading(`Hello, ${loginName}`).waitFor();
    await page.goto(reports);
    await atReports(page);
    await page.goBack();
    await on(page).heading(`Hello, ${loginName}`).waitFor();
  });

  it('is kept through the change of a password that is temporary', async () => {
    const loginName = await site.newUser({ temporary: true });
    const page = await open(reports);
    await on(page).logIn(loginName);
    await on(page).heading('Set your password').waitFor();
    await on(page).field('New password').fill(goodPassword(1));
    await on(page).field('Repeat the new password').fill(goodPassword(1));
    await on(page).button('Save password').click();
    await on(page).heading('Sign in').waitFor();
    await on(page).logIn(loginName, goodPassword(1));
    await atReports(page);
  });

  it('can be a page of the portal itself, with its query', async () => {
    const loginName = await site.newUser();
    const page = await open('/?return_to=/account/authenticator%3Flang%3Den');
    await on(page).logIn(loginName);
    await on(page).heading('Set up your authenticator').waitFor();
    await page.waitForURL((url) => url.search === '?lang=en');
  });

  it.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/%09/evil.example',
    '/%252f%252fevil.example',
    'javascript:alert(1)',
    '/',
    '/?return_to=/',
    '/CODE',
    '/%63ode',
  ])('%s is ignored without a message', async (target) => {
    const loginName = await site.newUser();
    const page = await open(`/?return_to=${encodeURIComponent(target)}`);
    expect(await on(page).alert().count()).toBe(0);
    await on(page).logIn(loginName, password);
    await on(page).heading(`Hello, ${loginName}`).waitFor();
    await page.waitForURL(`${site.url}/account`);
  });
});

it('return_to is kept through the second factor, also after a reload of the code page', async () => {
  const site = await PortalSite.start({ MFA_REQUIRED: 'true' });
  try {
    const { loginName } = await site.service.givenUser('alice');
    const page = await site.visitor();
    await page.route('**/reports*', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Reports</title><h1>Reports</h1>' }),
    );
    await page.goto(reports);
    await on(page).logIn(loginName);
    await on(page).heading('Enter your code').waitFor();
    await page.reload();
    await on(page).enterCode(await site.mailedCode());
    await on(page).heading('Reports').waitFor();
    expect(page.url()).toBe(`${site.url}/reports?x=1&y=2`);
    expect(site.takeComplaints()).toEqual([]);
  } finally {
    await site.stop();
  }
});

/** docs/spec/extensions.md#portal-home */
describe('PORTAL_HOME_URL', () => {
  let site: PortalSite;
  const started = '<!doctype html><title>Start</title><h1>Start</h1>';

  /** `/start` is a page of another program behind the same origin. */
  const visitor = async (path = '/'): Promise<Page> => {
    const page = await site.visitor();
    await page.route('**/start*', (route) => route.fulfill({ contentType: 'text/html', body: started }));
    await page.goto(path);
    return page;
  };
  const atStart = async (page: Page, url = `${site.url}/start?a=1#b`): Promise<void> => {
    await on(page).heading('Start').waitFor();
    expect(page.url()).toBe(url);
  };
  const use = async (settings: Record<string, string>, work: () => Promise<void>, host?: string): Promise<void> => {
    site = await PortalSite.start(settings, host);
    try {
      await work();
      expect(site.takeComplaints()).toEqual([]);
    } finally {
      await site.stop();
    }
  };

  it('is where a login without return_to leads, and the account stays where it is, also after a reload', async () => {
    await use({ PORTAL_HOME_URL: '/start?a=1#b' }, async () => {
      const loginName = await site.newUser();
      const page = await visitor();
      await on(page).logIn(loginName);
      await atStart(page);
      await page.goto('/account');
      await on(page).heading(`Hello, ${loginName}`).waitFor();
      await page.reload();
      await on(page).heading(`Hello, ${loginName}`).waitFor();
      await page.waitForURL(`${site.url}/account`);
      await page.goto('/');
      await atStart(page);
    });
  });

  it('is where the login after a sign-out leads, and a page that was asked for wins', async () => {
    await use({ PORTAL_HOME_URL: '/start?a=1#b' }, async () => {
      const loginName = await site.newUser();
      const page = await visitor('/account');
      await on(page).logIn(loginName);
      await on(page).heading(`Hello, ${loginName}`).waitFor();
      await on(page).signOut();
      await on(page).logIn(loginName);
      await atStart(page);
      await page.goto('/?return_to=/account/authenticator');
      await on(page).heading('Set up your authenticator').waitFor();
    });
  });

  it('is where a login leads after the forced change', async () => {
    await use({ PORTAL_HOME_URL: '/start?a=1#b' }, async () => {
      const loginName = await site.newUser({ temporary: true });
      const page = await visitor();
      await on(page).logIn(loginName);
      await on(page).heading('Set your password').waitFor();
      await on(page).field('New password').fill(goodPassword(1));
      await on(page).field('Repeat the new password').fill(goodPassword(1));
      await on(page).button('Save password').click();
      await on(page).heading('Sign in').waitFor();
      await on(page).logIn(loginName, goodPassword(1));
      await atStart(page);
    });
  });

  it('is where a login leads after the second factor', async () => {
    await use({ PORTAL_HOME_URL: '/start?a=1#b', MFA_REQUIRED: 'true' }, async () => {
      const page = await visitor();
      await on(page).logIn(await site.newUser());
      await on(page).heading('Enter your code').waitFor();
      await on(page).enterCode(await site.mailedCode());
      await atStart(page);
    });
  });

  it('is where a login with a passkey leads', async () => {
    const work = async () => {
      const loginName = await site.newUser();
      const page = await site.visitor();
      await VirtualAuthenticator.add(page);
      await page.route('**/start*', (route) => route.fulfill({ contentType: 'text/html', body: started }));
      await page.goto('/account/security');
      await on(page).logIn(loginName);
      await on(page).button('Add a passkey').click();
      await on(page).button('Continue').click();
      await page.getByText('You can sign in with it now.').waitFor();
      await on(page).signOut();
      await on(page).button('Sign in with a passkey').click();
      await atStart(page);
    };
    await use({ PORTAL_HOME_URL: '/start?a=1#b' }, work, 'localhost');
  });

  it('can be a page of another origin', async () => {
    const home = 'https://start.example/start';
    site = await PortalSite.start({ PORTAL_HOME_URL: home });
    try {
      const page = await visitor();
      await on(page).logIn(await site.newUser());
      await atStart(page, home);
      const foreign = site.takeComplaints();
      expect(foreign.filter((one) => one !== `foreign request: ${home}`)).toEqual([]);
    } finally {
      await site.stop();
    }
  });

  it('is not expected of a replica of 1.0.0, which does not answer it: the login leads to the account', async () => {
    await use({}, async () => {
      const loginName = await site.newUser();
      const page = await site.visitor();
      await page.route('**/capabilities', async (route) => {
        const { data } = (await (await route.fetch()).json()) as { data: Record<string, unknown> };
        const later = ['home_url', 'login_by_email', 'mfa'];
        const former = Object.fromEntries(Object.entries(data).filter(([name]) => !later.includes(name)));
        await route.fulfill({ json: { status: true, data: former } });
      });
      await page.goto('/');
      await on(page).logIn(loginName);
      await on(page).heading(`Hello, ${loginName}`).waitFor();
      await page.waitForURL(`${site.url}/account`);
    });
  });

  it.each(['/', '/code', '/?x=1'])('%s, which would redirect for ever, leads to the account', async (home) => {
    await use({ PORTAL_HOME_URL: home }, async () => {
      const loginName = await site.newUser();
      const page = await visitor();
      await on(page).logIn(loginName);
      await on(page).heading(`Hello, ${loginName}`).waitFor();
      await page.waitForURL(`${site.url}/account`);
    });
  });
});
