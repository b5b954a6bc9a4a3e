import { formsOf, SecretsWatch } from '../support/secrets-watch';

const secret = 'Mark"ed Päss/word+7';

/** How a careless program may write a secret. */
const leaks: Record<string, string> = {
  'as it is': `wrong password ${secret} for alice`,
  'in upper case': `wrong password ${secret.toUpperCase()}`,
  'in a JSON line': JSON.stringify({ body: { password: secret } }),
  'in JSON within a JSON line': JSON.stringify({ body: JSON.stringify({ password: secret }) }),
  'in an address': `/login?password=${encodeURIComponent(secret)}&x=1`,
  'in a form': new URLSearchParams({ password: secret }).toString(),
  'in hexadecimal': `0x${Buffer.from(secret).toString('hex').toUpperCase()}`,
  'in reverse': [...secret].reverse().join(''),
  'as Base64': Buffer.from(secret).toString('base64'),
  'as the second part of Basic credentials': Buffer.from(`alice:${secret}`).toString('base64'),
  'in Base64 of a longer text': Buffer.from(`{"user":"bob","password":"${secret}"}`).toString('base64'),
  'in base64url': Buffer.from(`x${secret}y`).toString('base64url'),
};

describe('the watch for secrets in logs', () => {
  it.each(Object.entries(leaks))('finds a secret %s', (_how, text) => {
    const watch = new SecretsWatch();
    watch.add('the password', secret);
    expect(() => watch.assertAbsent({ 'lines of the log': `${text}\n` })).toThrow(
      'lines of the log contain the password',
    );
  });

  it('its message does not repeat the secret', () => {
    const watch = new SecretsWatch();
    watch.add('the password', secret);
    let message = '';
    try {
      watch.assertAbsent({ 'lines of the log': `before ${secret} after` });
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toMatch(/before .* after/);
    for (const form of formsOf(secret).anyCase) expect(message.toLowerCase()).not.toContain(form);
  });

  it('collects the secrets of requests and answers, at any depth and in forms', () => {
    const watch = new SecretsWatch();
    watch.request({ username: 'alice-7', password: 'Correct-Horse-1' }, {}, 'bearer-token-1');
    watch.request('token=introspected-1&hint=x', {});
    watch.answer(
      200,
      { data: { codes: ['AAAAA-11111', 'BBBBB-22222'], user: { secret: 'ENROLMENT-1' } } },
      Buffer.alloc(0),
    );
    for (const one of ['Correct-Horse-1', 'bearer-token-1', 'introspected-1', 'BBBBB-22222', 'ENROLMENT-1']) {
      expect(() => watch.assertAbsent({ rows: `x ${one} y` })).toThrow('rows contain');
    }
    expect(() => watch.assertAbsent({ rows: 'alice-7' })).not.toThrow();
  });

  it('finds a secret that an answer repeats when it refuses, and a signed token that nobody named', () => {
    const watch = new SecretsWatch();
    watch.request({ password: 'Correct-Horse-1' }, {});
    watch.answer(400, {}, Buffer.from('{"msg":"Correct-Horse-1 is too simple"}'));
    expect(() => watch.assertAbsent({})).toThrow('answers that refuse contain password of a request');
    const token = `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.${Buffer.from('{"sub":"1"}').toString('base64url')}`;
    expect(() => new SecretsWatch().assertAbsent({ spans: token })).toThrow('spans contain a signed token');
  });

  it('takes a password that the same person types as the login name for no secret, and no word for one', () => {
    const watch = new SecretsWatch();
    watch.request({ username: 'Correct-Horse-1', password: 'correct-horse-1' }, {});
    watch.request({ password: 'password' }, {});
    expect(() => watch.assertAbsent({ rows: 'Correct-Horse-1 by provider password' })).not.toThrow();
  });
});
