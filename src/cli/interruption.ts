import { constants } from 'node:os';
import { CliProblem } from './cli-context';

type StopSignal = 'SIGTERM' | 'SIGINT';

/** A signal has ended the command before its work was done; the exit code is that of a shell, 143 or 130. */
export class Interrupted extends CliProblem {
  constructor(signal: StopSignal, progress: string) {
    super(`stopped by ${signal} ${progress}`, 128 + constants.signals[signal]);
  }
}

/** A program has to end within a second of the signal, and the end itself takes its time while a password is hashed. */
const patienceMs = 500;

/**
 * For work that goes step by step: a signal aborts it, so that it ends between two steps and can report. A step that does
 * not end in time (a database that does not answer) is cut off, and its transaction is rolled back. A second signal ends
 * the process at once.
 * @param progress how far the work has come, in the words that follow "stopped by SIGTERM"
 * @returns the problem to throw once the report is printed; undefined when no signal came
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
    }, patienceMs).unref();
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
  try {
    await work(controller.signal);
    return caught && new Interrupted(caught, progress());
  } finally {
    process.off('SIGTERM', stop).off('SIGINT', stop);
  }
}
