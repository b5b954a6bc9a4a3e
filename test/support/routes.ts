import { captchaToken } from './settings';

/** What the HTTP tests need to know about a route. Each new endpoint needs a line in `routes`. */
export interface RouteCase {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** A body that passes validation. The request itself may fail. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Fields that must be present and must be strings. Otherwise COMMON_400001 names them. */
  readonly required?: readonly string[];
  /** Fields that may be absent, but must be strings if present. */
  readonly optional?: readonly string[];
  /** The route answers 401 without a token, whatever the body is. */
  readonly guarded?: boolean;
  /** A success has no envelope (docs/spec/decisions.md#1). */
  readonly ownFormat?: boolean;
  /** The path is not below API_PREFIX. */
  readonly atRoot?: boolean;
  /** The `Cache-Control` of a success, if not `no-store`. */
  readonly cached?: string;
  /** The route works without the database. */
  readonly storeless?: boolean;
  /** The error code for any wrong identifier in the last part of the path, malformed or unknown, without a token. */
  readonly unknownId?: string;
  /** A valid body is answered with COMMON_404001, as on a path without a route: the path names what does not exist. */
  readonly missing?: true;
}

/** A valid UUID that identifies nothing. */
export const foreignId = '6f1c1d0e-9d5c-4f3e-8a6e-0123456789ab';

const login = { username: 'nobody', password: 'wrong', captcha_token: captchaToken };
const code = { uid: foreignId, type: 'email', code: '123456' };
const change = { req_uid: foreignId, password: 'Another-Horse-7', confirm_password: 'Another-Horse-7' };
const ownChange = {
  current_password: 'Wrong-Horse-7',
  password: 'Another-Horse-7',
  confirm_password: 'Another-Horse-7',
};
const assertion = { challenge_id: foreignId, response: {} };
const own = { ownFormat: true, storeless: true } as const;

export const routes: readonly RouteCase[] = [
  {
    method: 'POST',
    path: '/login',
    body: login,
    required: ['username', 'password'],
    optional: ['provider', 'device_token'],
  },
  {
    method: 'POST',
    path: '/login/discover',
    body: { username: 'nobody@example.com' },
    required: ['username'],
    storeless: true,
  },
  { method: 'POST', path: '/login/passkey-options', body: {}, storeless: true },
  { method: 'POST', path: '/login/passkey', body: assertion, required: ['challenge_id'], storeless: true },
  {
    method: 'POST',
    path: '/login/external',
    body: { code: 'wrong' },
    required: ['code'],
    optional: ['device_token'],
    storeless: true,
  },
  { method: 'POST', path: '/login/external/acme', body: {}, optional: ['return_to'], missing: true },
  { method: 'POST', path: '/otp-verify', body: code, required: ['uid', 'type', 'code'], optional: ['mfa_token'] },
  { method: 'POST', path: '/otp-resend', body: code, required: ['uid'], optional: ['mfa_token'] },
  { method: 'GET', path: `/otp-qrcode/${foreignId}`, ownFormat: true, unknownId: 'MFA_404001' },
  { method: 'POST', path: '/totp-secret', body: {}, guarded: true },
  { method: 'POST', path: '/recovery-codes', guarded: true },
  { method: 'GET', path: '/recovery-codes', guarded: true },
  { method: 'POST', path: '/passkeys/options', body: {}, guarded: true },
  { method: 'POST', path: '/passkeys', body: { name: 'Phone', response: {} }, guarded: true },
  { method: 'GET', path: '/passkeys', guarded: true },
  { method: 'PATCH', path: `/passkeys/${foreignId}`, body: { name: 'Phone' }, guarded: true, unknownId: 'AUTH_401001' },
  { method: 'DELETE', path: `/passkeys/${foreignId}`, guarded: true, unknownId: 'AUTH_401001' },
  { method: 'POST', path: '/refresh', body: {}, guarded: true },
  { method: 'POST', path: '/logout', guarded: true },
  { method: 'GET', path: '/user/me', guarded: true },
  { method: 'GET', path: '/verify', guarded: true, ownFormat: true },
  { method: 'POST', path: '/user/change-password', body: ownChange, guarded: true },
  { method: 'POST', path: '/user/reauthenticate', body: { password: 'Wrong-Horse-7' }, guarded: true },
  { method: 'GET', path: '/user/sessions', guarded: true },
  { method: 'DELETE', path: '/user/sessions', guarded: true },
  { method: 'DELETE', path: `/user/sessions/${foreignId}`, guarded: true, unknownId: 'AUTH_401001' },
  { method: 'GET', path: '/user/login-history', guarded: true },
  { method: 'GET', path: '/user/devices', guarded: true },
  { method: 'DELETE', path: `/user/devices/${foreignId}`, guarded: true, unknownId: 'AUTH_401001' },
  { method: 'POST', path: '/verify-captcha', body: { captcha_token: captchaToken }, storeless: true },
  { method: 'GET', path: '/captcha/challenge', ...own },
  { method: 'POST', path: '/forget-password', body: { email: 'nobody@example.com' }, required: ['email'] },
  { method: 'GET', path: `/user/change-pwd-req/${foreignId}`, unknownId: 'AUTH_401003' },
  {
    method: 'POST',
    path: '/user/change-pwd-by-req',
    body: change,
    required: ['req_uid', 'password', 'confirm_password'],
  },
  { method: 'GET', path: '/password-policy' },
  { method: 'GET', path: '/capabilities', storeless: true, cached: 'public, max-age=60' },
  { method: 'GET', path: '/health/live', atRoot: true, ...own },
  { method: 'GET', path: '/health/ready', atRoot: true, ownFormat: true },
  { method: 'GET', path: '/openapi.json', atRoot: true, ...own },
  { method: 'GET', path: '/openapi-3.0.json', atRoot: true, ...own },
  { method: 'GET', path: '/.well-known/jwks.json', atRoot: true, ...own },
];

export const named = (list: readonly RouteCase[]): [string, RouteCase][] =>
  list.map((route) => [`${route.method} ${route.path}`, route]);

/** The methods that the path of a route accepts. */
export const methodsOf = ({ path }: RouteCase): string[] =>
  routes.filter((one) => one.path === path).flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

export const taking = (method: 'GET' | 'POST'): RouteCase[] => routes.filter((route) => route.method === method);
