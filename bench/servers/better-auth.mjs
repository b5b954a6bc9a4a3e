// better-auth as its documentation sets it up, on MariaDB, with the same bcrypt library and cost as the other servers.
import { createServer } from 'node:http';
import { hash, verify } from '@node-rs/bcrypt';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import { jwt } from 'better-auth/plugins';
import { oauthProvider } from '@better-auth/oauth-provider';
import { createPool } from 'mysql2/promise';

const port = Number(process.env.PORT);
const options = {
  baseURL: `http://127.0.0.1:${port}`,
  secret: process.env.JWT_SECRET,
  database: createPool({ uri: process.env.DATABASE_URL, connectionLimit: 10, timezone: 'Z' }),
  emailAndPassword: {
    enabled: true,
    password: {
      hash: (password) => hash(password, { cost: 10 }),
      verify: ({ hash: stored, password }) => verify(password, stored),
    },
  },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  advanced: { disableCSRFCheck: true },
  // Only bench/provider.mjs needs it.
  ...(process.env.PROVIDER === 'on' && {
    disabledPaths: ['/token'],
    plugins: [
      jwt({ jwks: { keyPairConfig: { alg: 'ES256' } } }),
      oauthProvider({
        loginPage: '/sign-in',
        consentPage: '/consent',
        scopes: ['openid', 'profile', 'email', 'offline_access'],
        silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
      }),
    ],
  }),
};

if (process.argv.includes('--migrate')) {
  await (await getMigrations(options)).runMigrations();
  process.exit(0);
}

const auth = betterAuth(options);
const handler = toNodeHandler(auth);

/** An application of the company, whose users are not asked. A user with a session registers it. */
async function newApplication(cookie) {
  const { client_id: id, client_secret: secret } = await auth.api.adminCreateOAuthClient({
    headers: new Headers({ cookie }),
    body: {
      redirect_uris: ['https://grafana.example.com/login/generic_oauth'],
      scope: 'openid profile email offline_access',
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'client_secret_basic',
      skip_consent: true,
    },
  });
  return { id, secret };
}

const server = createServer((request, response) => {
  if (request.url === '/health/ready') response.end('{}');
  else if (request.url === '/application')
    void newApplication(request.headers.cookie).then((application) => response.end(JSON.stringify(application)));
  else void handler(request, response);
});
server.keepAliveTimeout = 72_000;
server.listen(port, '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
