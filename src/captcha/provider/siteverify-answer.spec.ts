import { readAnswer } from './siteverify-answer';

describe('the response of a siteverify provider', () => {
  it('accepts the token when `success` is the boolean true in an object', () => {
    expect(readAnswer('{"success":true,"error-codes":[]}', {})).toEqual({ verdict: 'accepted' });
  });

  it.each([
    'missing-input-response',
    'invalid-input-response',
    'timeout-or-duplicate',
    'already-seen-response',
    // Sent for a token of another site: a client that sends such tokens must not look like an outage.
    'sitekey-secret-mismatch',
    'not-using-dummy-passcode',
    'something new',
  ])('the error code %s rejects the token', (code) => {
    expect(readAnswer(JSON.stringify({ success: false, 'error-codes': [code] }), {}).verdict).toBe('rejected');
  });

  it.each(['{"success":false}', '{"success":false,"error-codes":null}', '{"success":false,"error-codes":"x"}'])(
    '%s rejects the token',
    (text) => {
      expect(readAnswer(text, {}).verdict).toBe('rejected');
    },
  );

  it.each([
    ['missing-input-secret', true, undefined],
    ['invalid-input-secret', true, undefined],
    ['invalid-parsed-secret', true, undefined],
    ['invalid-keys', true, undefined],
    ['bad-request', true, true],
    ['internal-error', undefined, undefined],
  ])('the error code %s is no verdict about the token', (code, misconfigured, blameless) => {
    const judgement = readAnswer(
      JSON.stringify({ success: false, 'error-codes': ['invalid-input-response', code] }),
      {},
    );
    expect(judgement).toEqual({
      verdict: 'unavailable',
      reason: code,
      ...(misconfigured && { misconfigured }),
      ...(blameless && { blameless }),
    });
  });

  it.each([
    '',
    '<!doctype html><title>Bad gateway</title>',
    '[]',
    '[{"success":true}]',
    'null',
    'true',
    '"true"',
    '1',
    '{}',
    '{"success":"true"}',
    '{"success":1}',
    '{"success":null}',
    '{"success":[true]}',
    '{"Success":true}',
    '{"data":{"success":true}}',
    '{"__proto__":{"success":true}}',
    '{"success":true',
    '{"success":true}}',
    '{"success":true}{"success":true}',
  ])('T041 the response %p is no verdict about the token', (text) => {
    expect(readAnswer(text, {})).toEqual({ verdict: 'unavailable', reason: 'nonsense' });
  });

  it.each([
    ['another hostname', { hostname: 'evil.example' }, { hostname: 'portal.example' }],
    ['no hostname', {}, { hostname: 'portal.example' }],
    ['a hostname in an array', { hostname: ['portal.example'] }, { hostname: 'portal.example' }],
    ['a subdomain', { hostname: 'a.portal.example' }, { hostname: 'portal.example' }],
    ['another action', { action: 'comment' }, { action: 'login' }],
    ['no action', {}, { action: 'login' }],
  ])('T043 a success with %s rejects the token, and the reason says why', (_case, answer, expected) => {
    const judgement = readAnswer(JSON.stringify({ success: true, ...answer }), expected);
    expect(judgement).toMatchObject({
      verdict: 'rejected',
      reason: expect.stringMatching(/^unexpected (hostname|action)$/),
    });
  });

  it('T043 a success for the expected hostname and action accepts the token', () => {
    const expected = { hostname: 'portal.example', action: 'login' };
    expect(readAnswer(JSON.stringify({ success: true, ...expected }), expected).verdict).toBe('accepted');
  });
});
