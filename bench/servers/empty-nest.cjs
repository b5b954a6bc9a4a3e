// An empty Nest program on Fastify. The scenario `start` compares the start of the service with it.
'use strict';
require('reflect-metadata');
const { Controller, Get, Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');
const { FastifyAdapter } = require('@nestjs/platform-fastify');

class Health {
  ready() {
    return {};
  }
}
Get('health/ready')(Health.prototype, 'ready', Object.getOwnPropertyDescriptor(Health.prototype, 'ready'));
Controller()(Health);

class Empty {}
Module({ controllers: [Health] })(Empty);

void NestFactory.create(Empty, new FastifyAdapter(), { logger: false }).then((app) =>
  app.listen(Number(process.env.PORT), '127.0.0.1'),
);
process.on('SIGTERM', () => process.exit(0));
