import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The version in the nearest `package.json` above this file. The search works in a checkout and in the image. */
export const version = nearestVersion(__dirname);

function nearestVersion(directory: string): string {
  try {
    const found = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { version?: unknown };
    if (typeof found.version === 'string') return found.version;
  } catch {
    // dist/ and src/ have no package.json.
  }
  const parent = dirname(directory);
  return parent === directory ? 'unknown' : nearestVersion(parent);
}
