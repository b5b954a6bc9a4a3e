/** Paths of the pages. They must differ from the paths of the service, which would otherwise answer `GET /login`. */
export const paths = {
  login: '/',
  code: '/code',
  forgot: '/forgot-password',
  /** The path of the mailed link: `{system_url}/reset-password?uid=…&lang=…`. */
  reset: '/reset-password',
  /** Shown between a sign-in with a password and the page that the user wanted. */
  welcome: '/account/welcome',
  account: '/account',
  security: '/account/security',
  devices: '/account/devices',
  activity: '/account/activity',
  totp: '/account/authenticator',
  /**
   * Where the sign-in to an application goes on: `/continue#UID`. The service leads to `/?interaction=UID`, and a signed-in
   * user from there to this page. A fragment is kept while the user signs in.
   */
  interaction: '/continue',
  /** Where the user types the code that a device shows. */
  device: '/device',
  outbox: '/outbox',
  /** The console. Its own places are in the fragment, because search terms must not reach access logs. */
  admin: '/admin',
} as const;

/** The sections of the account page. They share a frame and the account that it has loaded. */
export const accountSections: readonly string[] = [paths.account, paths.security, paths.devices, paths.activity];
