/** The pages' own addresses. None is a path of the service: `GET /login` would be answered by it, not by a page. */
export const paths = {
  login: '/',
  code: '/code',
  forgot: '/forgot-password',
  /** The path of the mailed link: `{system_url}/reset-password?uid=…&lang=…`. */
  reset: '/reset-password',
  account: '/account',
  totp: '/account/authenticator',
  outbox: '/outbox',
} as const;
