import { Redis as RedisClient } from 'ioredis';

import { Redis } from '../support/servers/redis';
import { staysSilent } from './silence';

describe('Redis', () => {
  let server: Redis;
  let client: RedisClient;

  beforeAll(async () => {
    server = await Redis.start();
  });

  beforeEach(() => {
    client = new RedisClient(server.url, { retryStrategy: () => null, disconnectTimeout: 100 });
    client.on('error', () => undefined);
  });

  afterEach(() => client.disconnect());

  afterAll(() => server.stop());

  it('keeps a value until it is flushed', async () => {
    await client.set('colour', 'green');
    expect(await client.get('colour')).toBe('green');
    await server.flush();
    expect(await client.get('colour')).toBeNull();
  });

  it('does not answer while suspended, and answers when resumed', async () => {
    await client.ping();
    await server.suspend();
    const answer = client.ping();
    expect(await staysSilent(answer)).toBe(true);
    await server.resume();
    expect(await answer).toBe('PONG');
  });

  it('restarts on the same port after a kill, without data', async () => {
    await client.set('colour', 'green');
    await server.kill();
    await expect(client.ping()).rejects.toThrow();
    await server.restart();
    const again = new RedisClient(server.url);
    expect(await again.get('colour')).toBeNull();
    again.disconnect();
  });

  it('has ended after stop, even when it was suspended', async () => {
    const { pid } = server;
    await server.suspend();
    await server.stop();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await expect(client.ping()).rejects.toThrow();
  });
});
