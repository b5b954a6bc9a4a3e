/** Checks for `doctor` whether Redis answers. The detail is one line without the URL, which may contain a password. */
export async function checkRedis(url: string): Promise<{ readonly ok: boolean; readonly detail: string }> {
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 2000,
    commandTimeout: 2000,
    maxRetriesPerRequest: 0,
  });
  let problem: Error | undefined;
  redis.on('error', (error: Error) => (problem = error));
  try {
    await redis.connect();
    await redis.ping();
    return { ok: true, detail: 'answers' };
  } catch (error) {
    return { ok: false, detail: (problem ?? (error as Error)).message };
  } finally {
    redis.disconnect();
  }
}
