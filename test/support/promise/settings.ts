import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../../../src/settings/app-config';
import { SettingsProblem } from '../../../src/platform/config/settings-reader';
import type { Recorded } from './broken-promises';

/**
 * Every setting with its default as docs/settings.md tells it, and what production needs. `settings-page.spec.ts` holds
 * the page to the settings that the program reads.
 */
export function settings(): Recorded {
  const page = readFileSync(resolve(__dirname, '../../../docs/settings.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (`[A-Z][A-Z0-9_]+`.*) \|$/gm)].map(([, row]) => String(row).split(/ +\| +/));
  const keys = rows.flatMap(([names = '', standard = '']) =>
    [...names.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, key]) => [String(key), { default: standard.trim() }] as const),
  );
  return { production: { needs: requiredInProduction() }, keys: Object.fromEntries(keys) };
}

function requiredInProduction(): string[] {
  try {
    loadConfig({ NODE_ENV: 'production' });
  } catch (error) {
    if (error instanceof SettingsProblem)
      return error.problems.filter((line) => line.includes('required')).map((line) => line.replace(/ (is|or) .*/, ''));
  }
  throw new Error('production starts without any setting');
}
