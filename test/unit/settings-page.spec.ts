import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(__dirname, '../..');
const src = resolve(root, 'src');

/** An operator cannot find a setting that the page does not name. */
describe('docs/settings.md', () => {
  const page = readFileSync(resolve(root, 'docs/settings.md'), 'utf8');
  const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
    .map((name) => readFileSync(resolve(src, name), 'utf8'))
    .filter((text) => text.includes('SettingsReader'))
    .join('\n');
  const read = [...sources.matchAll(/(?:env\.\w+|required)(?:<[^>]*>)?\((?:env, )?'([A-Z][A-Z0-9_]+)'/g)].map(
    (match) => match[1] as string,
  );

  it('names every setting that the program reads', () => {
    expect(read.length).toBeGreaterThan(60);
    expect([...new Set(read)].filter((key) => !page.includes(`\`${key}\``))).toEqual([]);
  });

  it('names no setting that the program does not read', () => {
    const composed = /^CAPTCHA_(TURNSTILE|HCAPTCHA|RECAPTCHA)_/;
    const named = [...page.matchAll(/^\| (`[A-Z].*?) \|/gm)].flatMap((row) => [
      ...(row[1] ?? '').matchAll(/`([A-Z0-9_]+)`/g),
    ]);
    const keys = named.map((match) => match[1] as string).filter((key) => !composed.test(key));
    expect(keys.filter((key) => !sources.includes(`'${key}'`))).toEqual([]);
  });

  it('matches .env.example: run npm run env-example after a change', () => {
    const script = resolve(root, 'scripts/env-example.mjs');
    const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
