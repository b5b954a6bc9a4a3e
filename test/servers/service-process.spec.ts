import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ServiceProcess } from '../support/servers/service-process';

/** Stands in for the built program: not ready at its first answer, quits on SIGTERM with a code of its own. */
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

  it('is there when it is ready, in a directory and an environment of its own', async () => {
    service = await ServiceProcess.start({ script, env: { COLOUR: 'green' } });
    const { cwd, env } = (await (await fetch(service.url)).json()) as { cwd: string; env: Record<string, string> };
    expect(env).toMatchObject({ COLOUR: 'green', HOST: '127.0.0.1', PORT: `${service.port}` });
    expect(env).not.toHaveProperty('JEST_WORKER_ID');
    expect(cwd).not.toBe(process.cwd());
    expect(existsSync(cwd)).toBe(true);
    await service.stop();
    expect(existsSync(cwd)).toBe(false);
  });

  it('tells the exit code of an orderly stop, and its last words', async () => {
    service = await ServiceProcess.start({ script, ready: /listening on \d+/ });
    expect(await service.stop()).toEqual({ code: 5, signal: null });
    expect(service.lines.at(-1)).toBe('draining');
    await expect(fetch(service.url)).rejects.toThrow('fetch failed');
  });

  it('ends a process that ignores SIGTERM, and shows that it had to', async () => {
    service = await ServiceProcess.start({ script, env: { STUBBORN: 'yes' }, ready: /listening/ });
    expect(await service.stop(200)).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('says at once why a start failed', async () => {
    await expect(ServiceProcess.start({ script, env: { BROKEN: 'yes' } })).rejects.toThrow('DATABASE_URL is wrong');
    await expect(ServiceProcess.start({ script, env: { BROKEN: 'yes' }, ready: /listening/ })).rejects.toThrow(
      'DATABASE_URL is wrong',
    );
    await expect(
      ServiceProcess.start({ script, ready: '/nowhere', timeout: 300, env: { PORT: '1' } }),
    ).rejects.toThrow();
  });
});
