import { constants } from 'node:os';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { applyAppSetup, createAdapter } from './app.setup';
import { Lifecycle } from './health/lifecycle';
import type { AppConfig } from './platform/config/app-config';
import { createLogger, NestLogger } from './platform/logging/logger';

type StopSignal = 'SIGTERM' | 'SIGINT';

/** From SIGTERM on, readiness is red. The ingress has this long to notice, then the listener closes. */
const ingressDelayMs = 3000;
const lastResortMs = 9500;

interface StartOptions {
  /** Runs before the first request is accepted. */
  readonly prepare?: (app: NestFastifyApplication) => Promise<void>;
  /** Milliseconds between SIGTERM and the end of listening; 0 where no ingress is in front. */
  readonly drainMs?: number;
}

/** Starts listening, also while the database is away (readiness is red then), and stops gracefully on SIGTERM. */
export async function startServer(
  module: DynamicModule,
  config: AppConfig,
  { prepare, drainMs = ingressDelayMs }: StartOptions = {},
): Promise<NestFastifyApplication> {
  const logger = createLogger(config.logLevel);
  // Before the service listens there is nothing to drain, so it ends at once.
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
  await prepare?.(app);
  await app.listen(config.http.port, config.http.host);
  const address = app.getHttpServer().address() as { port: number };
  logger.info({ context: 'main', host: config.http.host, port: address.port }, 'listening');

  stop = (signal) => {
    if (app.get(Lifecycle).draining) return;
    app.get(Lifecycle).startDraining();
    const exit = (cleanly: boolean) => {
      logger.info({ context: 'main', cleanly }, 'stopped');
      process.exit(0);
    };
    setTimeout(() => exit(false), lastResortMs).unref();
    setTimeout(() => void app.close().then(() => exit(true)), signal === 'SIGTERM' ? drainMs : 0);
  };
  process.on('unhandledRejection', (reason) => logger.error({ context: 'main', err: reason }, 'unhandled rejection'));
  return app;
}
