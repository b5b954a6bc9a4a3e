import { withoutCredentials } from './server-reply';

const auth = { user: 'mailer', pass: 'pass word+7' };
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('the reply of a mail server that is shown', () => {
  it.each([
    ['535 5.7.8 Authentication failed', '535 5.7.8 Authentication failed'],
    ['535 wrong password pass word+7 of mailer', '535 wrong password *** of ***'],
    [`501 cannot decode ${base64('\0mailer\0pass word+7')}`, '501 cannot decode ***'],
    [`501 ${base64('pass word+7')} ${base64('mailer')}`, '501 *** ***'],
    ['550-first line\r\n550 second\u001b[31m line', '550-first line 550 second [31m line'],
  ])('%j is shown as %j', (reply, shown) => {
    expect(withoutCredentials(reply, auth)).toBe(shown);
  });

  it('is short, and hides nothing when there is no login', () => {
    expect(withoutCredentials(`550 ${'x'.repeat(5000)}`, undefined)).toHaveLength(500);
    expect(withoutCredentials('550 no', undefined)).toBe('550 no');
  });
});
