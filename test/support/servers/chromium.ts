import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';

import { quietOptions } from './chromium-options.mjs';
import { findProgram } from './server-programs.mjs';

/** Only an action that hangs may meet it: on a busy machine it takes many times as long as on an idle one. */
const timeout = Number(process.env.P_TIMEOUT ?? 120_000);

/** A private headless Chromium with an empty profile. */
export class Chromium {
  private constructor(readonly browser: Browser) {}

  static async start(): Promise<Chromium> {
    const executablePath = findProgram('chromium');
    if (executablePath === null)
      throw new Error('chromium is not installed: run "npm test", which installs it or says how');
    return new Chromium(await chromium.launch({ executablePath, headless: true, args: quietOptions, timeout }));
  }

  /** A new browser context, which shares no cookies and no storage with other contexts. */
  async newVisitor(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.browser.newContext(options);
    context.setDefaultTimeout(timeout);
    return context;
  }

  /** A page in a new browser context. */
  async newPage(): Promise<Page> {
    return (await this.newVisitor()).newPage();
  }

  /** A second call does nothing. */
  async stop(): Promise<void> {
    await this.browser.close();
  }
}
