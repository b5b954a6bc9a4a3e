export const captchaToken = 'test-captcha-token';

/** The default settings of test services. */
export const testSettings = {
  NODE_ENV: 'test',
  HOST: '127.0.0.1',
  BCRYPT_COST: '4',
  CAPTCHA_TEST_TOKEN: captchaToken,
  JWT_SECRET: 'a-secret-of-the-tests-that-is-long-enough',
  DATA_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  SYSTEM_URL: 'http://portal.test',
  LOG_LEVEL: 'info',
} as const;
