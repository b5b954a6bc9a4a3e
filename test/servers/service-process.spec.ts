import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ServiceProcess } from '../support/servers/service-process';

/** Replaces the built program: its first answer is "not ready", and it ends on SIGTERM with a special exit code. */
const PROGRAM = `
const { createServer } = require('node:http');
let asked = 0;
const server = createServer((request, response) => {
  if (request.url === '/health/ready') response.statusCode = ++asked > 1 ? 200 : 503;
  response.end(JSON.stringify({ cwd: process.cwd(), env: process.env }));
});
if (process.env.BROKEN) { console.error('DATABASE_URL is wrong'); process.exit(3); }
server.listen(Number(process.env.PORT), process.env.HOST, () => console.log('listening on', process.env.PORT));
process.on('SIGTERM', () => { if (!process.env.STUBBORN) { console.log('draining'); process.exit(5); } });
`;

describe('ServiceProcess', () => {
  let directory: string;
  let script: string;
  let service: ServiceProcess | undefined;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'program-'));
    script = join(directory, 'program.js');
    await writeFile(script, PROGRAM);
  });

  afterEach(async () => {
    await service?.kill();
    service = undefined;
  });

  afterAll(() => rm(directory, { recursive: true }));

  it('resolves when the program is ready, which has a private directory and environment', async () => {
    service = await ServiceProcess.start({ script, env: { COLOUR: 'green' } });
    const { cwd, env } = (await (await fetch(service.url)).json()) as { cwd: string; env: Record<string, string> };
    expect(env).toMatchObject({ COLOUR: 'green', HOST: '127.0.0.1', PORT: `${service.port}` });
    expect(env).not.toHaveProperty('JEST_WORKER_ID');
    expect(cwd).not.toBe(process.cwd());
    expect(existsSync(cwd)).toBe(true);
    await service.stop();
    expect(existsSync(cwd)).toBe(false);
  });

  it('reports the exit code of a normal stop, and keeps the last lines of output', async () => {
    service = await ServiceProcess.start({ script, ready: /listening on \d+/ });
    expect(await service.stop()).toEqual({ code: 5, signal: null });
    expect(service.lines.at(-1)).toBe('draining');
    await expect(fetch(service.url)).rejects.toThrow('fetch failed');
  });

  it('kills a process that ignores SIGTERM, and reports SIGKILL', async () => {
    service = await ServiceProcess.start({ script, env: { STUBBORN: 'yes' }, ready: /listening/ });
    expect(await service.stop(200)).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('fails at once with the output of a program that ends during its start', async () => {
    await expect(ServiceProcess.start({ script, env: { BROKEN: 'yes' } })).rejects.toThrow('DATABASE_URL is wrong');
    await expect(ServiceProcess.start({ script, env: { BROKEN: 'yes' }, ready: /listening/ })).rejects.toThrow(
      'DATABASE_URL is wrong',
    );
    await expect(
      ServiceProcess.start({ script, ready: '/nowhere', timeout: 300, env: { PORT: '7' } }),
    ).rejects.toThrow();
  });
});
