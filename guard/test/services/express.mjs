// A small Express service in ES modules, as a consumer of the package writes it. VERIFIERS names its verifiers.
import { authOf, verifier } from '@portal-auth/guard';
import { requireAccessToken } from '@portal-auth/guard/express';
import express from 'express';

const app = express();
let arrived = 0;
app.get('/health', (_request, response) => response.json({ arrived }));
app.use((_request, _response, next) => {
  arrived += 1;
  next();
});
for (const [name, options] of Object.entries(JSON.parse(process.env.VERIFIERS))) {
  const router = express.Router();
  router.use(requireAccessToken(verifier(options)));
  const stepUp = requireAccessToken(verifier(options), { maxAgeSeconds: 3600, requireFactor: true });
  router.get('/payments', stepUp, (request, response) => response.json(authOf(request)));
  router.get('/whoami', (request, response) => response.json(authOf(request)));
  app.use(`/${name}`, router);
}
app.listen(Number(process.env.PORT), process.env.HOST);
