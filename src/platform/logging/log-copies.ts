import type { LogExport } from './log-export';

/**
 * Passes each line of the logger to the export. The logger exists before the modules do: the lines of the start wait
 * here until `passTo`. The start ends or fails, so what waits is bounded.
 */
export class LogCopies {
  private readonly early: string[] = [];
  private destination: LogExport | undefined;

  add(line: string): void {
    if (this.destination === undefined) this.early.push(line);
    else this.destination.add(line);
  }

  passTo(destination: LogExport): void {
    this.destination = destination;
    for (const line of this.early.splice(0)) destination.add(line);
  }
}
