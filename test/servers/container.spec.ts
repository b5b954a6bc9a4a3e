import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Redis as RedisClient } from 'ioredis';

import { Redis } from '../support/servers/redis';
import { staysSilent } from './silence';

/**
 * A fake docker command with the options that the servers use. It runs the program on this machine. So the test covers
 * the command lines, but not the images: those need a machine with a container engine.
 */
const DOCKER = `#!/bin/sh
state=$(dirname "$0")
echo "$*" >> "$state/calls"
verb=$1; shift
case $verb in
  version) echo 28.0 ;;
  run)
    while :; do
      case $1 in
        --rm|--init) shift ;;
        --name) name=$2; shift 2 ;;
        --entrypoint) program=$2; shift 2 ;;
        -p|-u|-v) shift 2 ;;
        *) break ;;
      esac
    done
    shift # the image
    echo $$ > "$state/$name"
    exec "$program" $(echo "$*" | sed 's/--bind 0.0.0.0/--bind 127.0.0.1/; s/--save /--save "" /') ;;
  pause) kill -STOP "$(cat "$state/$1")" ;;
  unpause) kill -CONT "$(cat "$state/$1")" ;;
  kill) kill -KILL "$(cat "$state/$1")" ;;
esac
`;

describe('a server whose program is not installed', () => {
  let folder: string;
  let server: Redis;
  let path: string | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'docker-'));
    await writeFile(join(folder, 'docker'), DOCKER, { mode: 0o755 });
    path = process.env.PATH;
    process.env.PATH = `${folder}:${path}`;
    process.env.TEST_SERVERS = 'containers';
    server = await Redis.start();
  });

  afterAll(async () => {
    await server.stop();
    process.env.PATH = path;
    delete process.env.TEST_SERVERS;
    await rm(folder, { recursive: true });
  });

  async function ping(): Promise<string> {
    const client = new RedisClient(server.url, { retryStrategy: () => null, disconnectTimeout: 100 });
    client.on('error', () => undefined);
    try {
      return await client.ping();
    } finally {
      client.disconnect();
    }
  }

  async function calls(): Promise<string[]> {
    return (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n');
  }

  it('runs in a container whose port is published on 127.0.0.1 only', async () => {
    expect(await ping()).toBe('PONG');
    const { port } = new URL(server.url);
    const [run] = (await calls()).filter((call) => call.startsWith('run '));
    expect(run).toContain(` -p 127.0.0.1:${port}:${port} `);
    expect(run).toContain(' --entrypoint redis-server redis:7 ');
  });

  it('can be suspended, resumed, killed and restarted like a local server', async () => {
    await server.suspend();
    const answer = ping();
    expect(await staysSilent(answer)).toBe(true);
    await server.resume();
    expect(await answer).toBe('PONG');

    await server.kill();
    await expect(ping()).rejects.toThrow();
    await server.restart();
    expect(await ping()).toBe('PONG');
    const verbs = (await calls()).map((call) => call.split(' ')[0]);
    expect(verbs.filter((verb) => verb !== 'version')).toEqual(['run', 'pause', 'unpause', 'kill', 'run']);
  });
});
