import { constants } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { applyAppSetup, createAdapter } from './app.setup';
import { Lifecycle } from './health/lifecycle';
import type { AppConfig } from './settings/app-config';
import { LogCopies } from './platform/logging/log-copies';
import { LogExport } from './platform/logging/log-export';
import { createLogger, NestLogger } from './platform/logging/logger';
import { Tracing } from './platform/tracing/tracing';

type StopSignal = 'SIGTERM' | 'SIGINT';

/** Readiness is red from SIGTERM on. The listener closes this much later, so that the ingress can notice it first. */
const ingressDelayMs = 3000;
/** The process ends after this time at the latest, also if a connection is still open. */
const lastResortMs = 9500;

/**
 * Connections that wait to be accepted while the event loop is busy. When there are more, the kernel drops the next ones, and
 * each of these clients tries again after a second or more. The default of Node is 511. The system may set a lower limit
 * (`net.core.somaxconn`).
 */
const backlog = 4096;

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
  let tracing: Tracing | undefined = undefined;
  const copies = config.logExport.url === undefined ? undefined : new LogCopies();
  const spanIds = config.tracing.url === undefined ? undefined : () => tracing?.currentIds();
  const logger = createLogger(config.logLevel, { copies, spanIds });
  for (const doubt of config.effective.doubts) logger.warn({ context: 'main' }, doubt);
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
  tracing = app.get<Tracing | undefined>(Tracing);
  const logExport = app.get<LogExport | undefined>(LogExport);
  if (logExport !== undefined) copies?.passTo(logExport);
  await applyAppSetup(app, logger);
  await prepare?.(app);
  await app.listen({ port: config.http.port, host: config.http.host, backlog });
  // From here on the space for new objects may grow, and V8 optimises hot code (process-start.ts).
  setFlagsFromString('--semi-space-growth-factor=2');
  setFlagsFromString('--turbofan');
  // Few objects of a request live on, so a collection each time that the heap has grown by a third costs next to nothing. During
  // the start the heap doubles, and more collections would only cost time (ADR 0014).
  setFlagsFromString('--heap-growing-percent=30');
  const address = app.getHttpServer().address() as { port: number };
  logger.info({ context: 'main', host: config.http.host, port: address.port }, 'listening');

  stop = (signal) => {
    if (app.get(Lifecycle).draining) return;
    app.get(Lifecycle).startDraining();
    let isClosed = false;
    const close = async () => {
      await app.close();
      isClosed = true;
      logger.info({ context: 'main', cleanly: true }, 'stopped');
      await logExport?.close();
      process.exit(0);
    };
    const lastResort = () => {
      if (!isClosed) logger.info({ context: 'main', cleanly: false }, 'stopped');
      process.exit(0);
    };
    setTimeout(lastResort, lastResortMs).unref();
    setTimeout(() => void close(), signal === 'SIGTERM' ? drainMs : 0);
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
