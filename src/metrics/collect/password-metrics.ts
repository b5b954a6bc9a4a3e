import { counters, gauges } from './metric-kinds';
import type { Registration } from './sources';

/** The hashing of passwords, the check against known breaches, and the questions to the old system. */
export function registerPasswordMetrics(place: Registration): void {
  const { prometheus, registers, sources } = place;
  const [gauge, counter] = [gauges(place), counters(place)];

  gauge('auth_hash_queue_waiting', 'Passwords that wait to be hashed.', () => sources.hasher().waiting);
  gauge(
    'auth_hash_queue_running',
    'Threads that are hashing now. A thread hashes one or two passwords.',
    () => sources.hasher().running,
  );
  gauge(
    'auth_hash_concurrency',
    'Maximum number of threads that hash at the same time.',
    () => sources.hasher().concurrency,
  );
  gauge(
    'auth_hash_average_seconds',
    'Moving average of the thread time of one hash.',
    () => sources.hasher().averageMs / 1000,
  );
  new prometheus.Counter({
    name: 'auth_hash_jobs_total',
    help: 'Hash jobs by outcome. refused: the queue was full or too slow.',
    labelNames: ['outcome'],
    registers,
    collect() {
      const { completed, refused, abandoned } = sources.hasher();
      this.reset();
      this.inc({ outcome: 'completed' }, completed);
      this.inc({ outcome: 'refused' }, refused);
      this.inc({ outcome: 'abandoned' }, abandoned);
    },
  });

  counter(
    'auth_password_breach_check_failures_total',
    'Passwords that were accepted unchecked because the breach service gave no usable answer.',
    sources.failedBreachChecks,
  );

  new prometheus.Counter({
    name: 'auth_legacy_checks_total',
    help: 'Passwords that the old system was asked about, by result. away: it gave no usable answer, or was not asked because it was down.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(sources.legacyChecks())) this.inc({ result }, count);
    },
  });
}
