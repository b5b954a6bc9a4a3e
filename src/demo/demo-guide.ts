import { demoApplicationUrl } from './demo-application';
import { demoAccounts, demoPassword } from './demo-accounts';

/** A captcha token that is always valid in the demo. */
export const demoCaptchaToken = 'dev-captcha-token';

/** The text that `npm start` prints. The curl command has a line of its own, so that it can be copied. */
export function demoGuide(port: number, apiPrefix: string, systemUrl = `http://localhost:${port}`): string {
  const base = `http://localhost:${port}`;
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
    `Web pages:         ${base}/`,
    `An application:    ${demoApplicationUrl(systemUrl)}  (it has no password form: "Sign in with the portal")`,
    `API documentation: ${base}/docs  (document: ${base}/openapi.json)`,
    `Mails:             ${base}/outbox  (files: data/outbox/*.eml)`,
    'Database:          data/auth.sqlite',
    '',
    'The demo follows the literal contract and is less strict than the program itself (node dist/src/main.js):',
    '- /forget-password returns the reset token to the caller (RESET_RESPONSE_UID=token).',
    '- Enrolling an authenticator is bound to the IP address, not to the session (TOTP_ENROLMENT_BINDING=ip).',
    '- A pending second factor is bound to nobody (MFA_PENDING_BINDING=none).',
    '',
  ].join('\n');
}
