import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { describeError } from './describe-error';

export interface LoggerCompanions {
  /** Gets each line as standard output gets it. */
  readonly copies?: { add(line: string): void };
  /** The ids of the trace and the span in which a line is written. */
  readonly spanIds?: () => { readonly traceId: string; readonly spanId: string } | undefined;
}

/**
 * Writes one JSON object per line to standard output. Times are UTC in ISO 8601. JSON escapes every value, so a line
 * break in a value cannot forge a line (docs/spec/attacks.md#t206).
 */
export function createLogger(
  level: string,
  { copies, spanIds }: LoggerCompanions = {},
  output: DestinationStream = pino.destination(1),
): Logger {
  const options: LoggerOptions = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
  };
  if (spanIds !== undefined) options.mixin = () => idsOf(spanIds());
  if (copies === undefined) return pino(options, output);
  const write = (line: string): void => {
    output.write(line);
    copies.add(line);
  };
  return pino(options, { write });
}

/** A new object, because pino writes into it. */
const idsOf = (span: ReturnType<NonNullable<LoggerCompanions['spanIds']>>): object =>
  span === undefined ? {} : { traceId: span.traceId, spanId: span.spanId };

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
