import { constants } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { applyAppSetup, createAdapter } from './app.setup';
import { Lifecycle } from './health/lifecycle';
import type { AppConfig } from './settings/app-config';
import { createLogger, NestLogger } from './platform/logging/logger';

type StopSignal = 'SIGTERM' | 'SIGINT';

/** Readiness is red from SIGTERM on. The listener closes this much later, so that the ingress can notice it first. */
const ingressDelayMs = 3000;
/** The process ends after this time at the latest, also if a connection is still open. */
const lastResortMs = 9500;

interface StartOptions {
  /** Runs before the first request is accepted. */
  readonly prepare?: (app: NestFastifyApplication) => Promise<void>;
  /** Milliseconds from SIGTERM until the listener closes; 0 without an ingress. */
  readonly drainMs?: number;
}

/** Listens even if the database is unavailable (readiness is red then), and stops gracefully on SIGTERM. */
export async function startServer(
  module: DynamicModule,
  config: AppConfig,
  { prepare, drainMs = ingressDelayMs }: StartOptions = {},
): Promise<NestFastifyApplication> {
  const logger = createLogger(config.logLevel);
  // Before the service listens, it has no requests to finish, so a signal ends it at once.
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
  // From here on the space for new objects may grow, and V8 optimises hot code (process-start.ts).
  setFlagsFromString('--semi-space-growth-factor=2');
  setFlagsFromString('--turbofan');
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

/**
 * Ends a program that cannot start, for example because its port is in use: one line on standard error, exit code 1.
 */
export function exitWith(error: unknown): never {
  process.stderr.write(`cannot start: ${error instanceof Error ? error.message.split('\n')[0] : 'unknown error'}\n`);
  process.exit(1);
}
