import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const dist = join(__dirname, '../../portal/dist');

/** The scripts that a browser loads before it shows the login page: the entry, and what it imports statically. */
function firstScripts(): string[] {
  const page = readFileSync(join(dist, 'index.html'), 'utf8');
  const found = [...page.matchAll(/(?:src|href)="\/(assets\/[\w-]+\.js)"/g)].map(([, file]) => file!);
  for (const file of found) {
    const code = readFileSync(join(dist, file), 'utf8');
    // `import{a}from"./x.js"`, `import"./x.js"` and `export{a}from"./x.js"`, but not `import("./x.js")`.
    for (const [, name] of code.matchAll(/(?:^|[;}\s])(?:import|export)[^"'();]*["']\.\/([\w-]+\.js)["']/g)) {
      if (!found.includes(`assets/${name!}`)) found.push(`assets/${name!}`);
    }
  }
  return found;
}

it('the JavaScript of the login page has at most 96 KB in gzip', () => {
  const sizes = firstScripts().map((file) => gzipSync(readFileSync(join(dist, file)), { level: 9 }).length);
  expect(sizes.length).toBeGreaterThan(0);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(96_000);
});
