import { readAnswer } from './siteverify-answer';

describe('an answer of siteverify', () => {
  it('is a yes only with the boolean true in an object', () => {
    expect(readAnswer('{"success":true,"error-codes":[]}', {})).toEqual({ verdict: 'accepted' });
  });

  it.each([
    'missing-input-response',
    'invalid-input-response',
    'timeout-or-duplicate',
    'already-seen-response',
    // A token of another site: whoever sends it must not look like an outage.
    'sitekey-secret-mismatch',
    'not-using-dummy-passcode',
    'something new',
  ])('%s is a no', (code) => {
    expect(readAnswer(JSON.stringify({ success: false, 'error-codes': [code] }), {}).verdict).toBe('rejected');
  });

  it.each(['{"success":false}', '{"success":false,"error-codes":null}', '{"success":false,"error-codes":"x"}'])(
    '%s is a no',
    (text) => {
      expect(readAnswer(text, {}).verdict).toBe('rejected');
    },
  );

  it.each([
    ['missing-input-secret', true, undefined],
    ['invalid-input-secret', true, undefined],
    ['invalid-keys', true, undefined],
    ['bad-request', true, true],
    ['internal-error', undefined, undefined],
  ])('%s is no verdict on the token', (code, misconfigured, blameless) => {
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
  ])('T041 %s is no verdict', (text) => {
    expect(readAnswer(text, {})).toEqual({ verdict: 'unavailable', reason: 'nonsense' });
  });

  it.each([
    ['another hostname', { hostname: 'evil.example' }, { hostname: 'portal.example' }],
    ['no hostname', {}, { hostname: 'portal.example' }],
    ['a hostname in an array', { hostname: ['portal.example'] }, { hostname: 'portal.example' }],
    ['a subdomain', { hostname: 'a.portal.example' }, { hostname: 'portal.example' }],
    ['another action', { action: 'comment' }, { action: 'login' }],
    ['no action', {}, { action: 'login' }],
  ])('T043 a yes for %s is a no, and the operator can see why', (_case, answer, expected) => {
    const judgement = readAnswer(JSON.stringify({ success: true, ...answer }), expected);
    expect(judgement).toMatchObject({
      verdict: 'rejected',
      reason: expect.stringMatching(/^unexpected (hostname|action)$/),
    });
  });

  it('T043 a yes for the expected hostname and action is a yes', () => {
    const expected = { hostname: 'portal.example', action: 'login' };
    expect(readAnswer(JSON.stringify({ success: true, ...expected }), expected).verdict).toBe('accepted');
  });
});
