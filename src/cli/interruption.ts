import { constants } from 'node:os';
import { CliProblem } from './cli-context';

type StopSignal = 'SIGTERM' | 'SIGINT';

/** A signal ended the command early. The exit code is that of a shell, 143 or 130. */
export class Interrupted extends CliProblem {
  constructor(signal: StopSignal, progress: string) {
    super(`stopped by ${signal} ${progress}`, 128 + constants.signals[signal]);
  }
}

/**
 * The time that the current step gets. The program has to end within a second of the signal, and the exit itself needs
 * the rest of that second if a password is being hashed.
 */
const graceMs = 500;

/**
 * Runs work that consists of steps. A signal aborts it, so that it ends between two steps and can report. If a step
 * does not end in time, for example because the database does not answer, the process exits and the database rolls its
 * transaction back. A second signal ends the process at once.
 * @param progress describes how far the work has come, in words that follow "stopped by SIGTERM"
 * @returns the error to throw after the report is printed; undefined if no signal came
 */
export async function interruptible(
  work: (signal: AbortSignal) => Promise<void>,
  progress: () => string,
): Promise<Interrupted | undefined> {
  const controller = new AbortController();
  let caught: StopSignal | undefined;
  const stop = (signal: StopSignal) => {
    caught = signal;
    controller.abort();
    setTimeout(() => {
      const { message, exitCode } = new Interrupted(signal, progress());
      process.stderr.write(`${message}\n`);
      process.exit(exitCode);
    }, graceMs).unref();
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
  try {
    await work(controller.signal);
    return caught && new Interrupted(caught, progress());
  } finally {
    process.off('SIGTERM', stop).off('SIGINT', stop);
  }
}
