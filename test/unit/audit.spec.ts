import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runProgram } from '../support/run-program';

const root = resolve(__dirname, '../..');
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { version: string }>;
};

type Answer = { readonly status: number; readonly body: object };

function versionsOf(name: string): Answer {
  const version = lock.packages[`node_modules/${name}`]?.version ?? '1.0.0';
  return { status: 200, body: { name, 'dist-tags': { latest: version }, versions: { [version]: { name, version } } } };
}

/** A registry whose answer to `npm audit` must not be taken for a good one when it is none. */
describe('npm run audit', () => {
  // npm itself runs, which takes long on a busy machine.
  jest.setTimeout(180_000);
  let registry: Server;
  let cache: string;
  let answer: Answer;

  beforeAll(async () => {
    cache = mkdtempSync(join(tmpdir(), 'audit-'));
    registry = createServer((request, response) => {
      request.resume().on('end', () => {
        // For an advisory, npm also asks which versions of the package there are.
        const { status, body } =
          request.method === 'GET' ? versionsOf(decodeURIComponent(request.url!.slice(1))) : answer;
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      });
    });
    await new Promise<void>((listening) => registry.listen(0, '127.0.0.1', listening));
  });
  afterAll(async () => {
    await new Promise((closed) => registry.close(closed));
    rmSync(cache, { recursive: true, force: true });
  });

  async function audit(): Promise<{ readonly code: number | null; readonly output: string }> {
    const { port } = registry.address() as AddressInfo;
    const env = {
      ...process.env,
      ...{ npm_config_registry: `http://127.0.0.1:${port}/`, npm_config_fetch_retries: '0', npm_config_cache: cache },
      ...{ npm_config_noproxy: '127.0.0.1', NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' },
    };
    const { code, stdout, stderr } = await runProgram('scripts/audit.mjs', [], { env, cwd: root });
    return { code, output: stdout + stderr };
  }

  it('ends with 2 when the registry does not answer the question: then nothing is known', async () => {
    answer = { status: 405, body: { error: 'method not allowed' } };
    const { code, output } = await audit();
    expect(output).toContain('The registry does not answer npm audit, so nothing is known about vulnerabilities');
    expect(code).toBe(2);
  });

  it('ends with 0 when the registry knows no advisory', async () => {
    answer = { status: 200, body: {} };
    expect(await audit()).toMatchObject({ code: 0, output: expect.stringContaining('no advisories') as string });
  });

  it('ends with 1 and names an advisory that docs/dependencies.md does not argue', async () => {
    const advisory = {
      id: 1,
      url: 'https://example.com/advisories/GHSA-aaaa-bbbb-cccc',
      title: 'Invented for this test',
      severity: 'high',
      vulnerable_versions: `<=${lock.packages['node_modules/pino']!.version}`,
      cwe: [],
      cvss: { score: 0, vectorString: null },
    };
    answer = { status: 200, body: { pino: [advisory] } };
    const { code, output } = await audit();
    expect(output).toContain('high: pino: Invented for this test (https://example.com/advisories/GHSA-aaaa-bbbb-cccc)');
    expect(code).toBe(1);
  });
});
