/** Checks of a tarball as such. Each function returns its problems as lines. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { rolldown } from 'rolldown';

import { exportsOf, root } from './packages.mjs';

const required = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
const allowed = /^dist\/(?!.*\.spec\.)(?:[\w.-]+\/)*(?:[\w.-]+\.(?:d\.ts|js)|package\.json)$/;

/** Only built code and the pages for its reader. The pages must not link to files that the tarball does not have. */
export function checkContents({ folder, manifest, entries }, { files }) {
  const read = (name) => readFileSync(join(root, folder, name), 'utf8');
  const links = ['README.md', 'CHANGELOG.md'].flatMap((page) =>
    [...read(page).matchAll(/\]\((?!#|https?:)([^)]*)\)/g)].map(([, target]) => `${page} links to ${target}`),
  );
  const sections = new RegExp(`^## \\[?(${manifest.version.replaceAll('.', '\\.')}|Unreleased)\\b`, 'm');
  const { access, provenance } = manifest.publishConfig ?? {};
  return {
    lines: [`${files.length} files`],
    found: [
      ...required.filter((name) => !files.includes(name)).map((name) => `${name} is missing`),
      ...files.filter((name) => !required.includes(name) && !allowed.test(name)).map((name) => `${name} is published`),
      ...links,
      ...(sections.test(read('CHANGELOG.md')) ? [] : [`CHANGELOG.md has no section for ${manifest.version}`]),
      ...(access === 'public' && provenance === true ? [] : ['publishConfig needs access "public" and provenance']),
      ...(manifest.private ? ['"private" forbids to publish'] : []),
      ...difference(exportsOf(manifest), Object.keys(entries)).map((name) => `unknown entry ${name}`),
    ],
  };
}

/** Bundles each entry alone, as a consumer's bundler does, and compares its size with the budget. */
export async function checkSizes(project, { manifest, entries }) {
  const lines = [];
  const found = [];
  for (const [entry, { budget }] of Object.entries(entries)) {
    const name = manifest.name + entry.slice(1);
    const bundle = await rolldown({
      input: 'entry',
      cwd: project,
      platform: 'node',
      // The dependencies have their own budgets.
      external: (id) => !id.startsWith('.') && !id.startsWith('/') && id !== name && id !== 'entry',
      plugins: [
        {
          name: 'entry',
          resolveId: (id) => (id === 'entry' ? join(project, 'entry.js') : null),
          load: (id) => (id === join(project, 'entry.js') ? `export * from '${name}';` : null),
        },
      ],
    });
    const { output } = await bundle.generate({ format: 'esm', minify: true });
    const size = gzipSync(output.map(({ code }) => code).join('\n'), { level: 9 }).length;
    lines.push(`${name}: ${size} of ${budget} bytes`);
    if (size > budget) found.push(`${name} is larger than its budget`);
  }
  return { lines, found };
}

/** What is in one of the lists only. */
export function difference(one, other) {
  return [...one.filter((item) => !other.includes(item)), ...other.filter((item) => !one.includes(item))];
}
