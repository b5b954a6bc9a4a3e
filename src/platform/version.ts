import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const nearest = nearestPackage(__dirname);

/** The version in the nearest `package.json` above this file. */
export const { version } = nearest;
/** The folder of that file: the root of a checkout or of the image, whatever the working directory is. */
export const programFolder = nearest.folder;

interface Package {
  readonly folder: string;
  readonly version: string;
}

function nearestPackage(folder: string): Package {
  try {
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version?: unknown };
    if (typeof version === 'string') return { folder, version };
  } catch {
    // dist/ and src/ have no package.json.
  }
  const parent = dirname(folder);
  return parent === folder ? { folder, version: 'unknown' } : nearestPackage(parent);
}
