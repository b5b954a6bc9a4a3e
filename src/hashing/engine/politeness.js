'use strict';

const { readFileSync } = require('node:fs');
const { setPriority } = require('node:os');

/** On Linux a thread has its own nice value, from 0 (normal) to 19. */
const polite = 10;
/** A share is judged over at least this much time in which the thread ran or could have run. */
const windowMs = 500;
/** A thread that could run and waited for more than this share of the time is crowded out. */
const crowdedShare = 0.6;
const urgentMs = 60_000;

/**
 * The priority of a hash thread (ADR 0004). A polite thread takes the processor time that the event loop and the database
 * leave, so users who are signed in do not notice many logins. Beside programs that never sleep it would get almost
 * nothing. It then asks to be replaced by an urgent thread, because a process may lower the priority of its threads and
 * may not raise it. After a minute an urgent thread becomes polite again.
 *
 * On other platforms setPriority changes the whole process, so nothing is changed there. A system may forbid the change
 * (EACCES, EPERM). The thread then keeps its priority.
 */
class Politeness {
  /** @param options.read returns the text of the kernel's statistics of this thread; throws where there are none */
  constructor({ urgent, read = readSchedstat, lower = lowerPriority, now = () => performance.now() }) {
    this.read = read;
    this.lower = lower;
    this.now = now;
    this.urgentUntil = urgent ? now() + urgentMs : undefined;
    if (!urgent) lower();
    this.mark = this.times();
  }

  /** Called after each job. Returns whether this thread should be replaced by an urgent one. */
  isCrowded() {
    if (this.urgentUntil !== undefined) {
      if (this.now() < this.urgentUntil) return false;
      this.urgentUntil = undefined;
      this.lower();
      this.mark = this.times();
      return false;
    }
    const times = this.times();
    if (times === undefined || this.mark === undefined) return false;
    const ran = times.ran - this.mark.ran;
    const waited = times.waited - this.mark.waited;
    if (ran + waited < windowMs) return false;
    this.mark = times;
    return waited > crowdedShare * (ran + waited);
  }

  /** Milliseconds that this thread ran, and that it waited for a processor (proc(5), `schedstat`). */
  times() {
    try {
      const [ran, waited] = this.read()
        .split(' ')
        .map((nanoseconds) => Number(nanoseconds) / 1e6);
      return { ran, waited };
    } catch {
      return undefined;
    }
  }
}

function readSchedstat() {
  return readFileSync('/proc/thread-self/schedstat', 'utf8');
}

function lowerPriority() {
  if (process.platform !== 'linux') return;
  try {
    setPriority(polite);
  } catch {}
}

module.exports = { Politeness };
