import { ProviderAway, ProviderRefused } from '../provider-connection';
import { sorted } from './refusals';

/** As the packages throw it. */
const thrown = (members: object) => Object.assign(new Error('a text of the package'), members);

describe('an error of a request to an identity provider', () => {
  it.each(['server_error', 'temporarily_unavailable', 'invalid_client', 'unauthorized_client'])(
    'is an outage when the provider says %s',
    (error) => {
      expect(sorted(thrown({ code: 'OAUTH_RESPONSE_BODY_ERROR', error, status: 400 }))).toEqual(
        expect.objectContaining({ name: 'ProviderAway', reason: error }),
      );
    },
  );

  it.each([
    ['OAUTH_TIMEOUT', 'timeout'],
    ['OAUTH_ABORT', 'abort'],
    ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'response_is_not_conform'],
    ['OAUTH_RESPONSE_IS_NOT_JSON', 'response_is_not_json'],
    ['OAUTH_PARSE_ERROR', 'parse_error'],
    ['ERR_JWKS_TIMEOUT', 'err_jwks_timeout'],
    ['ERR_JWKS_INVALID', 'err_jwks_invalid'],
    ['ERR_JOSE_GENERIC', 'err_jose_generic'],
  ])('is an outage when there was no answer or no document: %s', (code, reason) => {
    expect(sorted(thrown({ code }))).toEqual(expect.objectContaining({ name: 'ProviderAway', reason }));
  });

  it.each([
    [{ code: 'OAUTH_RESPONSE_BODY_ERROR', error: 'invalid_grant', status: 400 }, 'invalid_grant'],
    [{ code: 'OAUTH_INVALID_RESPONSE' }, 'invalid_response'],
    [{ code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' }, 'err_jws_signature_verification_failed'],
  ])('is a refusal when an answer is wrong: %j', (members, reason) => {
    expect(sorted(thrown(members))).toEqual(expect.objectContaining({ name: 'ProviderRefused', reason }));
  });

  it('stays what it is when this service has thrown it, also inside an error of the package', () => {
    for (const known of [new ProviderAway('busy'), new ProviderRefused('nonce')]) {
      expect(sorted(known)).toBe(known);
      expect(sorted(thrown({ code: 'OAUTH_INVALID_RESPONSE', cause: known }))).toBe(known);
    }
  });
});
