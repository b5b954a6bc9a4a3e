/** Sends copies of log lines to a collector. Standard output has every line, whatever becomes of its copy. */
export abstract class LogExport {
  /**
   * Never waits and never throws. While too many lines wait, it drops the line and counts it.
   * @param line one line of standard output, so that the copy tells what the line tells and nothing else
   */
  abstract add(line: string): void;

  /** Copies that this process has dropped since its start. */
  abstract readonly dropped: number;

  /** Sends the copies that wait, in bounded time. Nothing is sent afterwards. */
  abstract close(): Promise<void>;
}
