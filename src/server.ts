import { constants } from 'node:os';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { applyAppSetup, createAdapter } from './app.setup';
import { Lifecycle } from './health/lifecycle';
import type { AppConfig } from './platform/config/app-config';
import { createLogger, NestLogger } from './platform/logging/logger';

type StopSignal = 'SIGTERM' | 'SIGINT';

/** How long a SIGTERM lets the ingress notice the red readiness before the listener closes; then 10 s are the end. */
const drainMs = 3000;
const lastResortMs = 9500;

/** `prepare` runs before the first request is taken (the demo seeds there). Starts listening, also while the store is away (readiness is red then), and stops gracefully on SIGTERM. */
export async function startServer(
  module: DynamicModule,
  config: AppConfig,
  prepare: (app: NestFastifyApplication) => Promise<void> = () => Promise.resolve(),
): Promise<NestFastifyApplication> {
  const logger = createLogger(config.logLevel);
  // Until it listens there is nothing to drain: it ends at once.
  let stop = (signal: StopSignal): void => process.exit(128 + constants.signals[signal]);
  let told = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (!told) logger.info({ context: 'main', signal }, 'stopping');
      told = true;
      stop(signal);
    });
  }
  const app = await NestFactory.create<NestFastifyApplication>(module, createAdapter(), {
    logger: new NestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  await applyAppSetup(app, logger);
  await prepare(app);
  await app.listen(config.http.port, config.http.host);
  const address = app.getHttpServer().address() as { port: number };
  logger.info({ context: 'main', host: config.http.host, port: address.port }, 'listening');

  stop = (signal) => {
    if (app.get(Lifecycle).draining) return;
    app.get(Lifecycle).startDraining();
    setTimeout(() => process.exit(0), lastResortMs).unref();
    setTimeout(() => void app.close().then(() => process.exit(0)), signal === 'SIGTERM' ? drainMs : 0);
  };
  process.on('unhandledRejection', (reason) => logger.error({ context: 'main', err: reason }, 'unhandled rejection'));
  return app;
}
