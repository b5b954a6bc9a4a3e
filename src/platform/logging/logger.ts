import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';
import { describeError } from './describe-error';

/**
 * Writes one JSON object per line to standard output. Times are UTC in ISO 8601. JSON escapes every value, so a line
 * break in a value cannot forge a line (docs/spec/attacks.md#t206).
 */
export function createLogger(level: string): Logger {
  return pino({
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
  });
}

/** Contexts in which Nest logs one line for each module and route at the start. They are logged at debug. */
const chatty = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);

/** Passes the `Logger` calls of Nest and of this service to pino: `logger.warn({ fields }, 'message')`. */
export class NestLogger implements LoggerService {
  constructor(private readonly pino: Logger) {}

  log = (message: unknown, ...more: unknown[]) => this.write('info', message, more);
  error = (message: unknown, ...more: unknown[]) => this.write('error', message, more);
  warn = (message: unknown, ...more: unknown[]) => this.write('warn', message, more);
  debug = (message: unknown, ...more: unknown[]) => this.write('debug', message, more);
  verbose = (message: unknown, ...more: unknown[]) => this.write('trace', message, more);
  fatal = (message: unknown, ...more: unknown[]) => this.write('fatal', message, more);

  private write(
    level: 'info' | 'error' | 'warn' | 'debug' | 'trace' | 'fatal',
    message: unknown,
    more: unknown[],
  ): void {
    const context = more.length > 0 ? more.at(-1) : undefined;
    if (level === 'info' && chatty.has(String(context))) level = 'debug';
    if (message instanceof Error) {
      this.pino[level]({ context, err: message }, message.name);
    } else if (typeof message === 'object' && message !== null) {
      this.pino[level]({ context, ...message }, String(more[0]));
    } else {
      this.pino[level]({ context }, String(message));
    }
  }
}
