import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { applyAppSetup, createAdapter } from './app.setup';
import { Lifecycle } from './health/lifecycle';
import type { AppConfig } from './platform/config/app-config';
import { createLogger, NestLogger } from './platform/logging/logger';

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

  const stop = (signal: 'SIGTERM' | 'SIGINT', delayMs: number) => {
    if (app.get(Lifecycle).draining) return;
    logger.info({ context: 'main', signal }, 'stopping: not ready any more, requests under way are still served');
    app.get(Lifecycle).startDraining();
    const exit = (cleanly: boolean) => {
      logger.info({ context: 'main', cleanly }, 'stopped');
      process.exit(0);
    };
    setTimeout(() => exit(false), lastResortMs).unref();
    setTimeout(() => void app.close().then(() => exit(true)), delayMs);
  };
  process.on('SIGTERM', () => stop('SIGTERM', drainMs));
  process.on('SIGINT', () => stop('SIGINT', 0));
  process.on('unhandledRejection', (reason) => logger.error({ context: 'main', err: reason }, 'unhandled rejection'));
  return app;
}
