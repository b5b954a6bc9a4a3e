/** Read when they are used: a build has no settings. */
function setting(name: string, otherwise?: string): string {
  const value = process.env[name] ?? otherwise;
  if (value === undefined) throw new Error(`${name} is missing, see README.md`);
  return value;
}

export const settings = {
  /** The service. */
  authUrl: () => setting('AUTH_URL', 'http://localhost:3000'),
  redisUrl: () => setting('REDIS_URL', 'redis://localhost:6379'),
  /** The public origin of this server. */
  origin: () => new URL(setting('SITE_URL', 'http://localhost:3100')).origin,
  /** The same on all replicas. */
  secret: () => {
    const secret = setting('SESSION_SECRET');
    if (secret.length < 32) throw new Error('SESSION_SECRET needs 32 characters or more: openssl rand -base64 32');
    return secret;
  },
  /** The longest wait for an answer of the service. */
  timeoutMs: () => Number(setting('AUTH_TIMEOUT_MS', '5000')),
};
