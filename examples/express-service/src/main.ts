import { authOf } from '@portal-auth/guard';
import { requireAccessToken } from '@portal-auth/guard/express';
import express from 'express';
import { tokens } from './tokens.js';

const app = express();

app.get('/health', (_request, response) => {
  response.json({ ok: true });
});

// All routes below need a valid access token.
app.use(requireAccessToken(tokens));

app.get('/orders', (request, response) => {
  const { sub, tenant_id } = authOf(request);
  response.json({ orders: [], user: sub, tenant: tenant_id });
});

app.listen(Number(process.env.PORT ?? 8080), process.env.HOST ?? '127.0.0.1');
