// better-auth as its documentation sets it up, on MariaDB, with the same bcrypt library and cost as the other servers.
import { createServer } from 'node:http';
import { hash, verify } from '@node-rs/bcrypt';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
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
};

if (process.argv.includes('--migrate')) {
  await (await getMigrations(options)).runMigrations();
  process.exit(0);
}

const handler = toNodeHandler(betterAuth(options));
const server = createServer((request, response) => {
  if (request.url === '/health/ready') response.end('{}');
  else void handler(request, response);
});
server.keepAliveTimeout = 72_000;
server.listen(port, '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
