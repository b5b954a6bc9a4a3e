import { OpenIdCounts } from './openid-counts';

describe('the metric of the answers of the OpenID provider', () => {
  const counted = (kind: unknown, error?: string) => {
    const counts = new OpenIdCounts();
    counts.add(kind, error);
    return [...counts.all];
  };

  it.each([
    ...['invalid_request', 'invalid_client', 'invalid_grant', 'unauthorized_client', 'unsupported_grant_type'],
    ...['invalid_scope', 'access_denied', 'login_required', 'consent_required', 'interaction_required'],
    ...['invalid_target', 'server_error', 'authorization_pending', 'slow_down', 'expired_token'],
    ...['invalid_dpop_proof', 'use_dpop_nonce'],
  ])('names the error %s', (error) => {
    expect(counted('authorization', error)).toEqual([{ kind: 'authorization', result: error, count: 1 }]);
  });

  it('has one name for all other errors and kinds, so that no client chooses a label', () => {
    expect(counted('a made-up grant', 'a made-up error')).toEqual([{ kind: 'other', result: 'other', count: 1 }]);
    expect(counted(undefined)).toEqual([{ kind: 'other', result: 'success', count: 1 }]);
  });
});
