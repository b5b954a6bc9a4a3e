import { breakingChanges } from '../../scripts/breaking-changes.mjs';
import { contract } from '../support/contract';
import { runScript } from '../support/run-script';

// The tests change the document freely. Other tests check its structure.
type Loose = any;

/** Changes a copy of the document, and returns the breaking changes. */
function breaks(change: (document: Loose) => void): string[] {
  const changed = structuredClone(contract) as Loose;
  change(changed);
  return breakingChanges(contract, changed);
}

const schema = (document: Loose, name: string): Loose => document.components.schemas[name];
const post = (document: Loose, path: string): Loose => document.paths[path].post;
const failures = (document: Loose, path: string, status: string): Loose => {
  const { $ref } = post(document, path).responses[status].content['application/json'].schema;
  return schema(document, $ref.split('/').at(-1));
};

describe('a change of the OpenAPI document', () => {
  it('an unchanged document breaks nothing', () => expect(breaks(() => undefined)).toEqual([]));

  it.each<[string, (document: Loose) => void, string]>([
    ['a path that is gone', (d) => delete d.paths['/logout'], 'POST /logout: is gone'],
    ['another method', (d) => (d.paths['/logout'] = { put: post(d, '/logout') }), 'POST /logout: is gone'],
    [
      'another name of an operation',
      (d) => (post(d, '/login').operationId = 'signIn'),
      'POST /login: operationId login became signIn',
    ],
    [
      'an answer’s field that is gone',
      (d) => delete schema(d, 'LoginResponse').properties.change_uid,
      'POST /login: 200.data.change_uid is gone',
    ],
    [
      'an answer’s field that may be absent',
      (d) => schema(d, 'LoginResponse').required.shift(),
      'POST /login: 200.data.access_token may now be absent',
    ],
    [
      'an answer’s field that may be null',
      (d) => (schema(d, 'RefreshResponse').properties.access_token.type = ['string', 'null']),
      'POST /refresh: 200.data.access_token may now be null',
    ],
    [
      'an answer’s field of another type',
      (d) => (schema(d, 'RefreshResponse').properties.expires_in.type = 'string'),
      'POST /refresh: 200.data.expires_in may now be string',
    ],
    [
      'another value in an answer',
      (d) => schema(d, 'LoginResponse').properties.mfa_type.enum.push('sms'),
      'POST /login: 200.data.mfa_type may now be "sms"',
    ],
    [
      'another constant in an answer',
      (d) => (schema(d, 'DoneResponse').properties.result.const = false),
      'POST /logout: 200.data.result may now be false',
    ],
    [
      'a constant that is none any more',
      (d) => delete schema(d, 'DoneResponse').properties.result.const,
      'POST /logout: 200.data.result may now be other values',
    ],
    [
      'an answer’s text of another format',
      (d) => (schema(d, 'ChangeRequestResponse').properties.expired.format = 'date'),
      'POST /forget-password: 200.data.expired format went from date-time to date',
    ],
    [
      'a request field that is new and required',
      (d) => {
        schema(d, 'LoginDto').properties.device = { type: 'string' };
        schema(d, 'LoginDto').required.push('device');
      },
      'POST /login: request.device is new and required',
    ],
    [
      'a request field that became required',
      (d) => schema(d, 'LoginDto').required.push('provider'),
      'POST /login: request.provider became required',
    ],
    [
      'a request field that is gone',
      (d) => delete schema(d, 'LoginDto').properties.provider,
      'POST /login: request.provider is gone',
    ],
    [
      'a request value that is gone',
      (d) => schema(d, 'LoginDto').properties.provider.enum.pop(),
      'POST /login: request.provider may no longer be "auto"',
    ],
    [
      'a request field of a narrower type',
      (d) => (schema(d, 'OtpVerifyDto').properties.mfa_token.type = 'string'),
      'POST /otp-verify: request.mfa_token may no longer be null',
    ],
    [
      'a request field that may be less long',
      (d) => (schema(d, 'LoginDto').properties.username.maxLength = 20),
      'POST /login: request.username maxLength went from 255 to 20',
    ],
    [
      'a request field with a pattern',
      (d) => (schema(d, 'LoginDto').properties.password.pattern = '^a'),
      'POST /login: request.password pattern went from none to ^a',
    ],
    [
      'a body that became required',
      (d) => (post(d, '/refresh').requestBody.required = true),
      'POST /refresh: the request body became required',
    ],
    [
      'a parameter that is new and required',
      (d) => d.paths['/password-policy'].get.parameters.push({ in: 'query', name: 'tenant', required: true }),
      'GET /password-policy: query parameter tenant is new and required',
    ],
    [
      'an error code that is gone',
      (d) => failures(d, '/login', '401').oneOf.splice(2, 1),
      'POST /login: no longer answers LOGIN_401004',
    ],
    [
      'a status that is gone',
      (d) => delete post(d, '/forget-password').responses['404'],
      'POST /forget-password: no longer answers 404',
    ],
    [
      'a field of an error is gone',
      (d) => delete schema(d, 'RetryAfterData').properties.retry_after,
      'POST /login: 429 MFA_429001.data.retry_after is gone',
    ],
    [
      'a header that is gone',
      (d) => delete post(d, '/login').responses['429'].headers,
      'POST /login: 429 has lost the header Retry-After',
    ],
    [
      'another media type',
      (d) => (d.paths['/otp-qrcode/{uid}'].get.responses['200'].content = { 'image/svg+xml': { schema: {} } }),
      'GET /otp-qrcode/{uid}: 200 is no longer image/png',
    ],
    [
      'a token that was not asked for',
      (d) => (d.paths['/password-policy'].get.security = [{ access_token: [] }]),
      'GET /password-policy: now needs a token',
    ],
    [
      'a token that is no longer taken',
      (d) => (post(d, '/logout').security = [{ access_token: [] }]),
      'POST /logout: no longer takes refresh_token',
    ],
  ])('is breaking: %s', (_case, change, problem) => expect(breaks(change)).toContain(problem));

  it.each<[string, (document: Loose) => void]>([
    ['another operation', (d) => (d.paths['/new'] = { get: d.paths['/password-policy'].get })],
    ['another field of an answer', (d) => (schema(d, 'LoginResponse').properties.hint = { type: 'string' })],
    ['a field that is no longer null', (d) => (schema(d, 'LoginResponse').properties.access_token.type = 'string')],
    [
      'another error code',
      (d) => failures(d, '/login', '401').oneOf.push({ $ref: '#/components/schemas/Error_AUTH_401001' }),
    ],
    ['another status', (d) => (post(d, '/login').responses['409'] = post(d, '/login').responses['400'])],
    ['an optional field of a request', (d) => (schema(d, 'LoginDto').properties.device = { type: 'string' })],
    ['a request field that may be longer', (d) => (schema(d, 'LoginDto').properties.username.maxLength = 500)],
    ['a request field that is no longer required', (d) => schema(d, 'LoginDto').required.pop()],
    ['another value of a request', (d) => schema(d, 'LoginDto').properties.provider.enum.push('oidc')],
    ['a token that is no longer asked for', (d) => (d.paths['/user/me'].get.security = [])],
    ['another description', (d) => (d.info.description = 'other')],
  ])('is not breaking: %s', (_case, change) => expect(breaks(change)).toEqual([]));

  it('the script exits with 1 and lists the breaking changes', async () => {
    const changed = structuredClone(contract) as Loose;
    delete changed.paths['/logout'];
    const { code, output } = await runScript('scripts/openapi-breaking.mjs', contract, changed);
    expect(code).toBe(1);
    expect(output).toContain('POST /logout: is gone');
    expect((await runScript('scripts/openapi-breaking.mjs', contract, contract)).code).toBe(0);
  });
});
