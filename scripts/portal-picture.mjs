#!/usr/bin/env node
// npm run picture
//
// Starts the demo on a free port with a temporary folder, and takes the screenshots of the login page and of the console
// for README.md and docs/operations/administration.md. The pictures of docs/first-day.md are those of the test that plays the
// story, so they show what it has checked.
// Needs Chromium.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';

import Sqlite from 'better-sqlite3';
import { chromium } from 'playwright-core';

import { quietOptions } from '../test/support/servers/chromium-options.mjs';
import { findProgram } from '../test/support/servers/server-programs.mjs';
import { ensureBuilt, root } from './ensure-built.mjs';

const executablePath = findProgram('chromium');
if (executablePath === null) throw new Error('Chromium is not installed: install the Debian package "chromium"');
await ensureBuilt();

const folder = mkdtempSync(join(tmpdir(), 'portal-picture-'));
const database = join(folder, 'auth.sqlite');
const demo = spawn(process.execPath, ['dist/src/demo.js'], {
  cwd: root,
  env: {
    ...process.env,
    PORT: '0',
    API_PREFIX: '',
    DATA_DIR: folder,
    DATABASE_URL: `sqlite:${database}`,
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = once(demo, 'exit');
try {
  const address = await addressOf(demo);
  fillLog(database);
  await takePictures(address);
  takeFirstDay(join(folder, 'first-day'));
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
      await page.getByLabel('User name or e-mail address', { exact: true }).fill('alice');
      await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
      // The picture shows only the form, because the gradient behind it makes each file three times as large.
      const file = join(target, `login-${colorScheme}.png`);
      await page.locator('.card').screenshot({ path: file, animations: 'disabled', caret: 'hide' });
    }
    const page = await browser.newPage({ baseURL: address, locale: 'en-GB', viewport: { width: 1280, height: 740 } });
    await page.goto('/admin', { waitUntil: 'load' });
    await page.getByLabel('User name or e-mail address', { exact: true }).fill('admin');
    await page.getByLabel('Password', { exact: true }).fill('Demo-Password-1');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('img', { name: /^Bar chart/ }).waitFor();
    await page.screenshot({ path: join(target, 'console.png'), animations: 'disabled', caret: 'hide' });
  } finally {
    await browser.close();
  }
}

function takeFirstDay(pictures) {
  const jest = ['node_modules/jest/bin/jest.js', 'test/browser/first-day', '-t', 'accessible in light'];
  const { status } = spawnSync(process.execPath, [...jest, '--selectProjects', 'browser'], {
    ...{ cwd: root, stdio: 'inherit' },
    env: { ...process.env, PICTURES: pictures },
  });
  if (status !== 0) throw new Error('the test of the first day failed');
  for (const state of ['password', 'login', 'offer', 'codes']) {
    copyFileSync(
      join(pictures, `first-day-${state}-en-phone-light.png`),
      join(root, `docs/images/first-day-${state}.png`),
    );
  }
}

/** Logins of the last day: busy by day, quiet by night. */
function fillLog(file) {
  const db = new Sqlite(file);
  const insert = db.prepare(
    `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, mfa, request_id, created_at)
     VALUES (NULL, 'alice', 'password', '203.0.113.7', '', ?, NULL, '', ?)`,
  );
  const add = db.transaction(() => {
    for (let hour = 0; hour < 24; hour++) {
      const count = Math.round(40 + 160 * Math.sin((hour / 24) * Math.PI) ** 2) + (hour % 3) * 7;
      for (let one = 0; one < count; one++) {
        const at = new Date(Date.now() - hour * 3_600_000 - (one * 3_000_000) / count).toISOString();
        insert.run(one % 12 === 7 ? 'LOGIN_401001' : 'success', at.replace('T', ' ').replace('Z', ''));
      }
    }
  });
  add();
  db.close();
}
