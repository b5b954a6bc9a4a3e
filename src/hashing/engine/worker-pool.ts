import { Worker, type WorkerOptions } from 'node:worker_threads';
import { DomainError } from '../../shared/errors/domain-error';
import { serviceUnavailable } from '../../shared/errors/error-catalogue';

interface Call<Reply> {
  resolve(reply: Reply): void;
  reject(reason: Error): void;
}

type Answer<Reply> =
  | {
      readonly value: Reply;
      /** The thread gets too little processor time and wants to be replaced by an urgent one. */
      readonly crowded?: boolean;
    }
  | { readonly error: string; readonly code?: string };

/**
 * Threads that answer one request each at a time. A thread starts when it is first needed and is then kept. The pool
 * has no queue and no limit: the caller limits the parallel calls, and with them the threads. When a thread dies, only
 * its own request fails.
 */
export class WorkerPool<Request, Reply> {
  private readonly calls = new Map<Worker, Call<Reply> | null>();
  private readonly idle: Worker[] = [];
  private closed = false;
  /** How many of the next threads are urgent. */
  private crowded = 0;

  /**
   * @param file a script that answers every message on `parentPort` with `{ value }` or `{ error, code }`. An urgent thread has
   * the argument `urgent`.
   * @param workerData the value that each thread gets when it starts
   */
  constructor(
    private readonly file: string,
    private readonly workerData: unknown,
  ) {}

  get threads(): number {
    return this.calls.size;
  }

  run(request: Request): Promise<Reply> {
    return new Promise<Reply>((resolve, reject) => {
      if (this.closed) throw new Error('the worker pool is closed');
      const worker = this.idle.pop() ?? this.spawn();
      this.calls.set(worker, { resolve, reject });
      // Idle threads must not keep the process alive: a command has to end after its last answer.
      worker.ref();
      worker.postMessage(request);
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.calls.keys()].map((worker) => worker.terminate()));
  }

  private spawn(): Worker {
    // Without `execArgv: []` the thread would inherit a loader or an inspector that is meant for the main thread.
    const argv = this.crowded > 0 ? ['urgent'] : [];
    const worker = this.started({ workerData: this.workerData, execArgv: [], argv });
    this.crowded -= argv.length;
    worker.on('message', (answer: Answer<Reply>) => this.settle(worker, answer));
    worker.on('error', (error: Error) => this.lose(worker, failureOf(error)));
    worker.on('exit', (code) => this.lose(worker, new Error(`a worker ended with code ${code}`)));
    return worker;
  }

  private started(options: WorkerOptions): Worker {
    try {
      return new Worker(this.file, options);
    } catch (error) {
      throw failureOf(error as Error);
    }
  }

  private settle(worker: Worker, answer: Answer<Reply>): void {
    const call = this.calls.get(worker);
    if ('value' in answer && answer.crowded) {
      this.calls.delete(worker);
      this.crowded += 1;
      void worker.terminate();
    } else {
      this.calls.set(worker, null);
      this.idle.push(worker);
      worker.unref();
    }
    if ('value' in answer) call?.resolve(answer.value);
    else call?.reject(failureOf(Object.assign(new Error(answer.error), { code: answer.code })));
  }

  private lose(worker: Worker, reason: Error): void {
    const call = this.calls.get(worker);
    this.calls.delete(worker);
    const at = this.idle.indexOf(worker);
    if (at >= 0) this.idle.splice(at, 1);
    call?.reject(reason);
  }
}

/**
 * Codes of a thread that could not start or load its files, because the process has no free file descriptor, process id
 * or memory for it. Node 20 reports a `package.json` that it could not open as MODULE_NOT_FOUND.
 */
const startFailures = new Set([
  ...['ERR_WORKER_INIT_FAILED', 'ERR_WORKER_OUT_OF_MEMORY', 'ERR_DLOPEN_FAILED', 'MODULE_NOT_FOUND'],
  ...['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'],
]);

/** After a failed start nothing was hashed, and the next request starts a new thread: COMMON_503001. */
function failureOf(error: Error & { readonly code?: unknown }): Error {
  if (!startFailures.has(String(error.code))) return error;
  return new DomainError(serviceUnavailable, { retry_after: 2 }, { cause: error });
}
