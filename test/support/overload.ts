import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from './app';

const attempts = 30;
/** An answer that took longer met a time limit of the service, also when the load average is not high yet. */
const slowMs = 1000;
/** Whether the machine has more running processes than cores. */
const isOverloaded = () => loadavg()[0]! > availableParallelism();

/**
 * Repeats a request that was refused with 503 after a long wait, or while the machine is overloaded. A burst of requests
 * then exceeds the time limits of the service (2 s for a row lock, 2.4 s for a connection to the database), and 503 is
 * the right answer. The repeated request races like the others. The refused one may have been counted as an attempt already.
 * @param code the error code of the refusal
 */
export async function repeatedWhileOverloaded<T extends Pick<Answer, 'body'>>(
  send: () => Promise<T>,
  code = 'COMMON_503001',
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const began = performance.now();
    const answer = await send();
    const excused = performance.now() - began > slowMs || isOverloaded();
    if (answer.body?.error_code !== code || attempt === attempts || !excused) return answer;
    await pause(1000);
  }
}
