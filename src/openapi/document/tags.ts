/** The groups of operations, in the order in which a reader of the document meets them. */
export const tags: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'portal', description: 'What the service offers, for pages that adapt to it.' },
  { name: 'captcha', description: 'The challenge before a login, and the pass that solving it earns.' },
  {
    name: 'login',
    description: 'From a password, a directory credential or a passkey to tokens, or to the next step.',
  },
  { name: 'second factor', description: 'Codes by e-mail and authenticator, their enrolment, and recovery codes.' },
  { name: 'session', description: 'The tokens of a login: their user, their renewal and their end.' },
  { name: 'account', description: 'What users do with their own account: password, sessions, logins, devices.' },
  { name: 'passkeys', description: 'The passkeys of the logged-in user (WebAuthn).' },
  { name: 'password reset', description: 'Setting a password without a session: forgotten, first and expired ones.' },
  { name: 'introspection', description: 'Services and proxies behind the portal ask about a token (RFC 7662).' },
  {
    name: 'applications',
    description: 'Signing in to applications with OpenID Connect. Only with `OIDC=on`.',
  },
  {
    name: 'admin',
    description: 'Users, logs, settings, mails and tenants, for administrators. Only with `ADMIN_API=on`.',
  },
];
