import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Chromium } from '../support/servers/chromium';

const PAGE = `<!doctype html><title>Door</title><button onclick="document.cookie='seen=yes'; this.textContent='open'">closed</button>`;

describe('Chromium', () => {
  let site: Server;
  let url: string;
  let chromium: Chromium;

  beforeAll(async () => {
    site = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(PAGE));
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    chromium = await Chromium.start();
  });

  afterAll(async () => {
    await chromium.stop();
    site.close();
    site.closeAllConnections();
  });

  it('shows a page and clicks on it', async () => {
    const page = await chromium.newPage();
    await page.goto(url);
    await page.getByRole('button', { name: 'closed' }).click();
    expect(await page.getByRole('button').textContent()).toBe('open');
  });

  it('gives each page a browser context of its own: cookies are not shared', async () => {
    const [one, other] = [await chromium.newPage(), await chromium.newPage()];
    await one.goto(url);
    await one.getByRole('button').click();
    await other.goto(url);
    expect(await one.evaluate('document.cookie')).toBe('seen=yes');
    expect(await other.evaluate('document.cookie')).toBe('');
  });

  it('loads no page but those of the tests', async () => {
    const page = await chromium.newPage();
    await page.goto(url);
    const session = await chromium.browser.newBrowserCDPSession();
    const { targetInfos } = await session.send('Target.getTargets');
    const addresses = targetInfos.map((target) => target.url).filter((address) => !address.startsWith(url));
    expect(addresses).toEqual([]);
  });

  it('switches off all that Playwright switches off', async () => {
    const session = await chromium.browser.newBrowserCDPSession();
    const { commandLine } = await session.send('SystemInfo.getInfo');
    // Of several options with one name, Chromium reads the last one.
    const lists = [...commandLine.matchAll(/ --disable-features=(\S*)/g)].map(([, list]) => list!.split(','));
    expect(lists.at(-1)).toEqual(expect.arrayContaining(lists.flat()));
    expect(lists.length).toBeGreaterThan(1);
  });

  it('has ended after stop', async () => {
    await chromium.stop();
    expect(chromium.browser.isConnected()).toBe(false);
  });
});
