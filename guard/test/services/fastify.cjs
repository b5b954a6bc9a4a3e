// A small Fastify service in CommonJS, as a consumer of the package writes it. VERIFIERS names its verifiers.
const { authOf, verifier } = require('@portal-auth/guard');
const { requireAccessToken } = require('@portal-auth/guard/fastify');
const { fastify } = require('fastify');

const app = fastify();
let arrived = 0;
app.get('/health', () => ({ arrived }));
for (const [name, options] of Object.entries(JSON.parse(process.env.VERIFIERS))) {
  app.register(
    (routes, _options, done) => {
      routes.addHook('onRequest', (_request, _reply, next) => {
        arrived += 1;
        next();
      });
      routes.addHook('onRequest', requireAccessToken(verifier(options)));
      routes.get('/whoami', (request) => authOf(request));
      const stepUp = requireAccessToken(verifier(options), { maxAgeSeconds: 3600, requireFactor: true });
      routes.get('/payments', { onRequest: stepUp }, (request) => authOf(request));
      done();
    },
    { prefix: `/${name}` },
  );
}
app.listen({ port: Number(process.env.PORT), host: process.env.HOST });
