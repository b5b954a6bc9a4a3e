import { write } from 'node:fs';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { EventSettings } from '../../audit/event-settings';
import type { LogExport } from '../../platform/logging/log-export';
import type { ServiceEvent } from '../outbox/event';

/** Writes a text to a file. The real one is `write` of node:fs to file descriptor 1. */
export type WriteText = (text: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void;

const toStandardOutput: WriteText = (text, done) => write(1, text, 0, text.length, null, done);

/** The longest line is below 4 KiB, so these are at most 40 MB. Usual lines have 500 bytes. */
const mostWaiting = 10_000;
const busyMs = 50;
const stopMs = 2000;
/** The level `info` of the other lines of the log. */
const info = 30;

/**
 * `AUDIT_STREAM=stdout`: one JSON line for each row of the logs. Each line is one write, which the system does not mix
 * with another line. The writes run outside of the event loop, so a reader of standard output that stops does not stop
 * the service. When too many lines wait, new ones are dropped and counted: the tables have all rows (ADR 0026).
 */
@Injectable()
export class AuditLines implements OnApplicationShutdown {
  /** Whether `AUDIT_STREAM` asks for lines. */
  readonly wanted: boolean;
  private readonly logger = new Logger('events');
  private readonly waiting: string[] = [];
  private readonly output: WriteText;
  private on = false;
  private writing = false;
  private untold = 0;
  private lost = 0;
  private emptied: (() => void) | undefined;

  /** @param copies gets each line as well, also while standard output is not read. Undefined without `OTEL_LOGS_EXPORTER`. */
  constructor(
    events: EventSettings,
    output: WriteText = toStandardOutput,
    private readonly copies?: LogExport,
  ) {
    this.wanted = events.stream;
    this.output = output;
  }

  /** Lines that this process has dropped since its start. */
  get dropped(): number {
    return this.lost;
  }

  /** Only the server calls it: standard output of a command belongs to its answer. */
  start(): void {
    this.on = this.wanted;
  }

  /** Never waits and never throws. */
  add(event: ServiceEvent): void {
    if (!this.on) return;
    const line = `${JSON.stringify({ level: info, time: event.timestamp, log: 'audit', ...event })}\n`;
    this.copies?.add(line);
    if (this.waiting.length >= mostWaiting) {
      this.lost++;
      this.untold++;
      return;
    }
    this.waiting.push(line);
    if (!this.writing) this.next();
  }

  /** Waits for the lines that are not written yet, but not for ever. */
  async onApplicationShutdown(): Promise<void> {
    if (!this.writing) return;
    await new Promise<void>((resolve) => {
      this.emptied = resolve;
      setTimeout(resolve, stopMs).unref();
    });
  }

  private next(): void {
    const line = this.waiting.shift();
    this.writing = line !== undefined;
    if (line !== undefined) this.put(Buffer.from(line));
    else this.emptied?.();
  }

  private put(text: Buffer): void {
    this.output(text, (error, written) => {
      // The pipe of another program may be non-blocking.
      if (error?.code === 'EAGAIN') setTimeout(() => this.put(text), busyMs);
      else if (error !== null) this.fail();
      else if (written < text.length) this.put(text.subarray(written));
      else {
        this.report();
        this.next();
      }
    });
  }

  /** Nobody reads standard output any more. */
  private fail(): void {
    this.lost += 1 + this.waiting.length;
    this.waiting.length = 0;
    this.next();
  }

  /** Only now, because a line of the log would have waited for the same reader, and the event loop with it. */
  private report(): void {
    if (this.untold === 0 || this.waiting.length >= mostWaiting / 2) return;
    this.logger.error(
      { dropped: this.untold },
      'audit lines were dropped because standard output was not read: audit_logs and login_logs have all rows',
    );
    this.untold = 0;
  }
}
