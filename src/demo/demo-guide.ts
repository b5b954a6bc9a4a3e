import { demoAccounts, demoPassword } from './demo-accounts';

/** Always valid in the demo, instead of a solved challenge. */
export const demoCaptchaToken = 'dev-captcha-token';

/** What a newcomer reads after `npm start`; the curl block stands alone, so that it can be copied as it is. */
export function demoGuide(port: number, apiPrefix: string): string {
  const base = `http://127.0.0.1:${port}`;
  const body = { username: 'alice', password: demoPassword, captcha_token: demoCaptchaToken };
  const accounts = demoAccounts.map(({ user, what }) => `  ${user.loginName.padEnd(6)} ${what}`);
  return [
    '',
    `Portal authentication service, demo: ${base}`,
    '',
    `Accounts, all with the password ${demoPassword}:`,
    ...accounts,
    '',
    'Log in:',
    '',
    `curl -s ${base}${apiPrefix}/login -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`,
    '',
    `The page:          ${base}/`,
    `API documentation: ${base}/docs  (document: ${base}/openapi.json)`,
    `Mails:             ${base}/outbox  (files: data/outbox/*.eml)`,
    'Database:          data/auth.sqlite',
    '',
    'The demo follows the letter of the specification: /forget-password answers the reset token itself',
    '(RESET_RESPONSE_UID=token), enrolling TOTP is bound to the address (TOTP_ENROLMENT_BINDING=ip), and a',
    'pending second factor to nobody (MFA_PENDING_BINDING=none). The program itself, node dist/src/main.js,',
    'is strict in all three.',
    '',
  ].join('\n');
}
