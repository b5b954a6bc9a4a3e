import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { eventually } from '../servers/eventually';

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export const sizes = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 375, height: 667 },
} as const;

export const schemes = ['light', 'dark'] as const;

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** The colours change in a transition, also a very short one. */
export const still = (page: Page): Promise<unknown> =>
  eventually(async () => (await page.evaluate<number>('document.getAnimations().length')) === 0, {
    what: 'the colours of the other scheme',
  });

/** Violations of WCAG 2.2 AA and of the best practices of axe, one line per element. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  // `evaluate` uses the debugger, so the Content-Security-Policy of the page does not block the script.
  await page.evaluate(axe);
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then((result) => result.violations)`,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ''}`));
}

/** Changes the size of the window, and waits until the page has it. */
export async function resize(page: Page, size: { readonly width: number; readonly height: number }): Promise<void> {
  await page.setViewportSize(size);
  await eventually(
    async () => (await page.evaluate<string>('`${innerWidth} × ${innerHeight}`')) === `${size.width} × ${size.height}`,
    { what: 'the new size of the window' },
  );
}

/**
 * Pixels by which the page is wider than the window. More than 0 means that a phone must scroll sideways. A page gets up
 * to five seconds for its new layout after the window has changed its size.
 */
export async function overflow(page: Page): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const pixels = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    if (pixels === 0 || attempt === 50) return pixels;
    await pause(100);
  }
}

/** Writes a screenshot to the folder in the environment variable `PICTURES`. Does nothing if it is not set. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES;
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  // The browser takes the height of the picture from its last layout, which can be that of the former size or language.
  await pause(300);
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** Looks at a page on a desktop in both colours and on a phone: no violations, and nothing to scroll sideways. */
export async function look(page: Page, name: string): Promise<void> {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    await still(page);
    expect([name, await accessibilityViolations(page)]).toEqual([name, []]);
    await takePicture(page, `${name}-desktop-${colorScheme}`);
  }
  await resize(page, { ...sizes.phone, width: 380 });
  expect([name, await overflow(page)]).toEqual([name, 0]);
  await takePicture(page, `${name}-phone-dark`);
  await resize(page, sizes.desktop);
}
