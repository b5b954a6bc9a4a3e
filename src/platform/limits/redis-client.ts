import type { Redis } from 'ioredis';

/**
 * Connects in the background. The package is loaded here, so that a service without Redis starts without it. A command is sent
 * once: it waits for no connection, and is not sent again after a reconnect.
 */
export async function openRedis(url: string, commandTimeoutMs: number): Promise<Redis> {
  const { Redis } = await import('ioredis');
  return new Redis(url, {
    commandTimeout: commandTimeoutMs,
    connectTimeout: 2000,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // Otherwise a dead connection whose end was not signalled would be kept for a quarter of an hour.
    socketTimeout: longestSilenceMs,
    keepAlive: 30_000,
    retryStrategy: (attempt) => Math.min(attempt * 250, longestSilenceMs),
    // After a failover the former master may still answer, but it refuses writes.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  });
}

const longestSilenceMs = 5000;
