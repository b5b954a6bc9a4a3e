import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';

import { findProgram } from './server-programs.mjs';

// Without these it calls home at its start, on a machine where nothing but the loopback interface may be used.
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A headless Chromium of its own with an empty profile. */
export class Chromium {
  private constructor(readonly browser: Browser) {}

  static async start(): Promise<Chromium> {
    const executablePath = findProgram('chromium');
    if (executablePath === null) throw new Error('chromium is not installed: "npm test" says what to do');
    return new Chromium(await chromium.launch({ executablePath, headless: true, args: QUIET }));
  }

  /** A visitor of its own: cookies and storage shared with no other. */
  async newVisitor(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    return this.browser.newContext(options);
  }

  /** A page of a new visitor. */
  async newPage(options: BrowserContextOptions = {}): Promise<Page> {
    return (await this.newVisitor(options)).newPage();
  }

  /** A second call does nothing. */
  async stop(): Promise<void> {
    await this.browser.close();
  }
}
