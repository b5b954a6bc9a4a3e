import { type Verifier, verifier } from '@portal-auth/guard';

const { AUTH_MODE, AUTH_URL = 'http://localhost:3000', AUTH_CLIENT_ID = '', AUTH_CLIENT_SECRET = '' } = process.env;

// JWT_ISSUER and JWT_AUDIENCE of the service.
const common = { issuer: process.env.AUTH_ISSUER ?? AUTH_URL, audience: process.env.AUTH_AUDIENCE ?? 'portal' };

/**
 * `introspection` asks the service about each token, so a sign-out counts at once. `jwks` verifies the signature here, so
 * a sign-out counts when the token expires.
 */
export const tokens: Verifier =
  AUTH_MODE === 'jwks'
    ? verifier({ mode: 'jwks', ...common, jwksUrl: `${AUTH_URL}/.well-known/jwks.json` })
    : verifier({
        mode: 'introspection',
        ...common,
        introspectionUrl: `${AUTH_URL}/introspect`,
        clientId: AUTH_CLIENT_ID,
        clientSecret: AUTH_CLIENT_SECRET,
      });
