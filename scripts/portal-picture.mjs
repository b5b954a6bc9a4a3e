#!/usr/bin/env node
// npm run picture
//
// Starts the demo on a free port with a temporary folder, and takes the screenshots of the login page for README.md.
// Needs Chromium.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';

import { chromium } from 'playwright-core';

import { quietOptions } from '../test/support/servers/chromium-options.mjs';
import { findProgram } from '../test/support/servers/server-programs.mjs';
import { ensureBuilt, root } from './ensure-built.mjs';

const executablePath = findProgram('chromium');
if (executablePath === null) throw new Error('Chromium is not installed: install the Debian package "chromium"');
await ensureBuilt();

const folder = mkdtempSync(join(tmpdir(), 'portal-picture-'));
const demo = spawn(process.execPath, ['dist/src/demo.js'], {
  cwd: root,
  env: {
    ...process.env,
    PORT: '0',
    API_PREFIX: '',
    DATA_DIR: folder,
    DATABASE_URL: `sqlite:${join(folder, 'auth.sqlite')}`,
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = once(demo, 'exit');
try {
  await takePictures(await addressOf(demo));
} finally {
  demo.kill();
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

/** The demo prints its address when it is ready. */
async function addressOf({ stdout }) {
  for await (const line of createInterface({ input: stdout })) {
    const address = /http:\/\/localhost:\d+/.exec(line)?.[0];
    if (address !== undefined) return address;
  }
  throw new Error('the demo did not start');
}

async function takePictures(address) {
  const target = join(root, 'docs/images');
  mkdirSync(target, { recursive: true });
  const browser = await chromium.launch({ executablePath, args: quietOptions });
  try {
    for (const colorScheme of ['light', 'dark']) {
      const page = await browser.newPage({
        colorScheme,
        baseURL: address,
        locale: 'en-GB',
        viewport: { width: 640, height: 700 },
        deviceScaleFactor: 2,
      });
      await page.goto('/', { waitUntil: 'load' });
      await page.getByLabel('User name', { exact: true }).fill('alice');
      await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
      // The picture shows only the form, because the gradient behind it makes each file three times as large.
      const file = join(target, `login-${colorScheme}.png`);
      await page.locator('.card').screenshot({ path: file, animations: 'disabled', caret: 'hide' });
    }
  } finally {
    await browser.close();
  }
}
