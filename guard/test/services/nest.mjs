// A small Nest service, as a consumer of the package writes it, but with its decorators called by hand, because Node runs
// it as it is. VERIFIERS names its verifiers.
import 'reflect-metadata';
import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { verifier } from '@portal-auth/guard';
import { AccessTokenGuard, Auth, Public, StepUp } from '@portal-auth/guard/nest';

let arrived = 0;

class HealthController {
  health() {
    return { arrived };
  }
}
decorate(HealthController, 'health', Get('health'), Public());
Controller()(HealthController);

const controllers = Object.entries(JSON.parse(process.env.VERIFIERS)).map(([name, options]) => {
  class WhoAmIController {
    whoami(auth) {
      return auth;
    }

    payments(auth) {
      return auth;
    }

    open() {
      return { open: true };
    }
  }
  Auth()(WhoAmIController.prototype, 'whoami', 0);
  decorate(WhoAmIController, 'whoami', Get('whoami'));
  Auth()(WhoAmIController.prototype, 'payments', 0);
  decorate(WhoAmIController, 'payments', Get('payments'), StepUp({ requireFactor: true }));
  StepUp({ maxAgeSeconds: 3600 })(WhoAmIController);
  decorate(WhoAmIController, 'open', Get('open'), Public());
  UseGuards(new AccessTokenGuard(verifier(options)))(WhoAmIController);
  Controller(name)(WhoAmIController);
  return WhoAmIController;
});

class AppModule {}
Module({ controllers: [HealthController, ...controllers] })(AppModule);

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: ['error'] });
const fastify = app.getHttpAdapter().getInstance();
fastify.addHook('onRequest', (_request, _reply, next) => {
  arrived += 1;
  next();
});
await app.listen(Number(process.env.PORT), process.env.HOST);

function decorate({ prototype }, method, ...decorators) {
  for (const decorator of decorators) {
    decorator(prototype, method, Object.getOwnPropertyDescriptor(prototype, method));
  }
}
