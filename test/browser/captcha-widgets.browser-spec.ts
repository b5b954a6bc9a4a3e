import type { Page } from 'playwright-core';
import { password } from '../support/app';
import { on, PortalSite } from '../support/browser/portal-site';
import { expire, scripts, seenBy, standIn, type WidgetProvider } from '../support/captcha/provider-stand-in';
import { SiteverifyStub } from '../support/captcha/siteverify-stub';
import { eventually } from '../support/servers/eventually';

const providers = Object.keys(scripts) as WidgetProvider[];
const blocked = 'The security check could not be loaded.';

describe.each(providers)('with the captcha of %s', (provider) => {
  const stub = new SiteverifyStub();
  let site: PortalSite;

  beforeAll(async () => {
    await stub.listen();
    site = await PortalSite.start({
      CAPTCHA_PROVIDER: provider,
      CAPTCHA_SECRET: 'a secret of the provider',
      CAPTCHA_SITE_KEY: 'the-site-key',
      CAPTCHA_VERIFY_URL: stub.url,
    });
  });
  afterAll(async () => {
    await site.stop();
    await stub.close();
  });
  beforeEach(() => void stub.asked.splice(0));
  // The script of the provider is the only foreign request. A violation of the Content-Security-Policy would be a
  // console error.
  afterEach(() =>
    expect(site.takeComplaints().filter((one) => !one.startsWith(`foreign request: ${scripts[provider]}`))).toEqual([]),
  );

  const tokens = () => stub.asked.map(({ response }) => response?.replace(/^visit-\d+-/, ''));
  const greeted = (page: Page, name: string) => on(page).heading(`Hello, ${name}`).waitFor();

  it('each login sends a fresh token of the provider, and the built-in captcha is not loaded', async () => {
    const name = await site.newUser();
    const page = await site.visitor();
    const own: string[] = [];
    page.on('request', (request) =>
      /altcha|pbkdf2|captcha\/challenge/.test(request.url()) ? own.push(request.url()) : 0,
    );
    const asked = await standIn(page, provider);
    await page.goto('/');
    await on(page).logIn(name, 'Wrong-Horse-7');
    await page.getByText('The user name or password is wrong.').waitFor();
    await on(page).logIn(name, password);
    await greeted(page, name);
    expect(new Set(tokens()).size).toBe(2);
    expect(tokens()).toEqual(tokens().toSorted());
    expect(asked).toHaveLength(1);
    expect(asked[0]!.searchParams.get('render')).toBe('explicit');
    const { options } = await seenBy(page);
    expect(options).toHaveLength(1);
    expect(options[0]).toMatchObject({ sitekey: 'the-site-key', theme: 'light' });
    expect(options[0]!.language ?? asked[0]!.searchParams.get('hl')).toBe('en');
    expect(own).toEqual([]);
  });

  it('the widget has the language and the theme of the page', async () => {
    const page = await site.visitor({ locale: 'zh-CN', colorScheme: 'dark' });
    const asked = await standIn(page, provider);
    await page.goto('/');
    await page.getByLabel('用户名').fill(await site.newUser());
    await page.getByLabel('密码', { exact: true }).fill(password);
    await page.getByRole('button', { name: '登录' }).click();
    await page.waitForURL('**/account');
    const { options } = await seenBy(page);
    expect(options[0]).toMatchObject({ theme: 'dark' });
    expect(options[0]!.language ?? asked[0]!.searchParams.get('hl')).toBe('zh-CN');
  });

  it('a challenge that fails is followed by a fresh one, without the user', async () => {
    const name = await site.newUser();
    const page = await site.visitor();
    await standIn(page, provider, ['error-callback']);
    await page.goto('/');
    await on(page).logIn(name);
    await greeted(page, name);
    expect(tokens()).toEqual(['token-2']);
  });

  it('a token that the service refuses is followed by a fresh one, without the user', async () => {
    const name = await site.newUser();
    const page = await site.visitor();
    await standIn(page, provider);
    const { behaviour } = stub;
    stub.behaviour = (response, request) => {
      const refused = { success: false, 'error-codes': ['timeout-or-duplicate'] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(refused));
      stub.behaviour = behaviour;
      void request;
    };
    await page.goto('/');
    await on(page).logIn(name);
    await greeted(page, name);
    expect(tokens()).toEqual(['token-1', 'token-2']);
  });

  it('the page gives up a script that does not arrive within 10 s, and the user can try again', async () => {
    const name = await site.newUser();
    const page = await site.visitor();
    await page.clock.install({ time: site.service.clock.now() });
    const asked = page.waitForRequest(`${scripts[provider]}*`);
    await standIn(page, provider);
    await page.route(`${scripts[provider]}*`, () => undefined, { times: 1 });
    await page.goto('/');
    await on(page).logIn(name);
    await on(page).button('Signing in…').waitFor();
    await asked;
    await page.clock.fastForward(10_000);
    await on(page).alert().getByText(blocked).waitFor();
    await on(page).button('Try again').click();
    await greeted(page, name);
    expect(tokens()).toHaveLength(1);
    // The first request for the script fails when the page closes.
    await page.context().close();
    site.takeComplaints();
  });

  it('a script that the browser blocks is reported at once', async () => {
    const page = await site.visitor();
    await page.route(`${scripts[provider]}*`, (route) => route.abort('blockedbyclient'));
    await page.goto('/');
    await on(page).logIn(await site.newUser());
    await on(page).alert().getByText(blocked).waitFor();
    expect(stub.asked).toEqual([]);
    // The focus on the message starts one more request for the script. No complaint comes after the end of the page.
    await page.context().close();
    expect(site.takeComplaints().filter((one) => !/foreign request|net::ERR/.test(one))).toEqual([]);
  });

  it('the policy of the page allows the script of this provider, and of no other', async () => {
    const page = await site.visitor();
    await standIn(page, provider);
    await page.goto('/');
    for (const other of providers.filter((one) => one !== provider)) {
      const refused = await page.evaluate<string>(`new Promise((resolve) => {
        document.addEventListener('securitypolicyviolation', (event) => resolve(event.blockedURI), { once: true });
        const script = document.createElement('script');
        script.src = '${scripts[other]}';
        document.head.append(script);
      })`);
      expect(refused).toBe(scripts[other]);
    }
    // No complaint comes after the end of the page.
    await page.context().close();
    site.takeComplaints();
  });

  if (provider === 'turnstile') {
    it('the token is there before the user submits, and is replaced when it expires', async () => {
      const name = await site.newUser();
      const page = await site.visitor();
      await standIn(page, provider);
      await page.goto('/');
      await on(page).field('User name').focus();
      const given = (times: number) =>
        eventually(
          async () =>
            (await page.evaluate<number>(
              `(window.captchaSeen?.calls ?? []).filter((one) => one === 'token').length`,
            )) === times,
          { what: `token ${times}` },
        );
      await given(1);
      await expire(page, provider);
      await given(2);
      await on(page).logIn(name);
      await greeted(page, name);
      expect(tokens()).toEqual(['token-2']);
    });
  } else {
    it('no challenge is shown before the user submits', async () => {
      const name = await site.newUser();
      const page = await site.visitor();
      const asked = await standIn(page, provider);
      await page.goto('/');
      await eventually(() => asked.length === 1, { what: 'the script' });
      await eventually(() => page.evaluate<boolean>(`'captchaSeen' in window`), { what: 'the script to run' });
      expect((await seenBy(page)).calls).toEqual([]);
      await on(page).logIn(name);
      await greeted(page, name);
    });
  }

  if (provider === 'hcaptcha') {
    it('a challenge that the user closes can be started again', async () => {
      const name = await site.newUser();
      const page = await site.visitor();
      await standIn(page, provider, ['close-callback']);
      await page.goto('/');
      await on(page).logIn(name);
      await on(page).alert().getByText('The security check was not completed.').waitFor();
      await on(page).button('Try again').click();
      await greeted(page, name);
    });
  }

  if (provider === 'recaptcha') {
    it('a key of version 3, whose token is a result and not a callback, works as well', async () => {
      const name = await site.newUser();
      const page = await site.visitor();
      await standIn(page, provider, ['result']);
      await page.goto('/');
      await on(page).logIn(name);
      await greeted(page, name);
      expect(tokens()).toEqual(['token-1']);
    });
  }
});
