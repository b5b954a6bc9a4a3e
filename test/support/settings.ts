import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** Returns a DATA_ENCRYPTION_KEY. The same seed always gives the same key. */
export const dataKey = (seed: number | string): string => createHash('sha256').update(`${seed}`).digest('base64');

export const captchaToken = 'test-captcha-token';

/** The password of test users. It meets the default policy. */
export const password = 'Correct-Horse-7';

/**
 * Milliseconds within which every request is answered while a database, a directory or Redis is unavailable. The
 * contract is 5 s, but a busy machine needs longer. Without the limits of the service an answer would take 10 s or
 * more: the connection time-out of the driver, or seven statements that wait one after the other.
 */
export const boundedAnswerMs = 9_000;

/** The default settings of test services. */
export const testSettings = {
  NODE_ENV: 'test',
  HOST: '127.0.0.1',
  BCRYPT_COST: '4',
  // Hash threads have a low priority: on a busy machine a burst waits longer than the default of two seconds.
  HASH_QUEUE_MAX_WAIT_MS: '60000',
  CAPTCHA_TEST_TOKEN: captchaToken,
  JWT_SECRET: 'a-secret-of-the-tests-that-is-long-enough',
  DATA_ENCRYPTION_KEY: dataKey(7),
  SYSTEM_URL: 'http://portal.test',
  LOG_LEVEL: 'info',
} as const;

/**
 * Settings of a process of the built program whose time limits for the database are ten times as long. On a busy machine
 * a burst of 100 requests exceeds the real limits. The service then answers 503, and what the request has already
 * written stays: an attempt that was reserved is used up, and its event is missing.
 */
export const patientDatabase = { NODE_OPTIONS: `--require ${join(__dirname, 'patient-service.cjs')}` } as const;

/** Settings of replicas in a test of the time limits themselves. */
export const realTimeLimits = { NODE_OPTIONS: '' } as const;
