import type { Gauge, Registry } from 'prom-client';
import type { LogoutTokens } from '../../applications/logout-tokens';
import type { OpenIdCounts } from '../../applications/openid-counts';
import type { EventOutbox } from '../../events/event-outbox';
import type { MailOutbox } from '../../mail/mail-outbox';
import type { DatabaseClock } from '../../platform/database/database-clock';
import type { PoolCounts } from '../../platform/database/mysql-pool';
import type { HasherStats } from '../../hashing/password-hasher';

type Prometheus = typeof import('prom-client');

/** The sources of the metrics. A scrape reads them; nothing else does. */
export interface Sources {
  readonly version: string;
  readonly hasher: () => HasherStats;
  readonly pool: () => PoolCounts | undefined;
  /** Undefined when no Redis is configured. */
  readonly redis: () => Promise<boolean | undefined>;
  readonly outbox: Pick<MailOutbox, 'outboxStats'>;
  readonly events: Pick<EventOutbox, 'figures' | 'droppedLines'>;
  readonly logouts: Pick<LogoutTokens, 'figures' | 'results'>;
  readonly clock: Pick<DatabaseClock, 'offsetMs'>;
  readonly failedBreachChecks: () => number;
  readonly lostLoginRows: () => number;
  readonly refusedProofs: () => ReadonlyMap<string, number>;
  readonly openIdAnswers: () => OpenIdCounts['all'];
}

/** Registers metrics that read other services at each scrape. Those services need no code for metrics. */
export function registerServiceMetrics(prometheus: Prometheus, registry: Registry, sources: Sources): void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number) =>
    new prometheus.Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  /** For numbers that a source counts from the start of the process on. */
  const counter = (name: string, help: string, read: () => number) =>
    new prometheus.Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });

  new prometheus.Gauge({
    name: 'auth_build_info',
    help: 'Always 1. The labels show the versions of the service and of Node.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: sources.version, node: process.version }, 1);

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
  counter(
    'auth_login_log_rows_lost_total',
    'Rows of login_logs that could not be written. The refusal of the login was answered all the same.',
    sources.lostLoginRows,
  );
  new prometheus.Counter({
    name: 'auth_proofs_refused_total',
    help: 'Proofs of possession, and bound tokens without one, that were refused (AUTH_401011), by reason.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of sources.refusedProofs()) this.inc({ reason }, count);
    },
  });
  counter(
    'auth_audit_lines_dropped_total',
    'Lines of AUDIT_STREAM that were dropped because standard output was not read.',
    () => sources.events.droppedLines ?? 0,
  );

  new prometheus.Gauge({
    name: 'auth_database_pool_connections',
    help: 'Database connections by state. waiting: requests that wait for a connection.',
    labelNames: ['state'],
    registers,
    collect() {
      const pool = sources.pool();
      if (pool === undefined) return;
      this.set({ state: 'busy' }, pool.open - pool.idle);
      this.set({ state: 'idle' }, pool.idle);
      this.set({ state: 'waiting' }, pool.waiting);
    },
  });

  new prometheus.Counter({
    name: 'auth_openid_answers_total',
    help: 'Answers of the OpenID provider: sign-ins (authorization) and requests for tokens by their grant.',
    labelNames: ['kind', 'result'],
    registers,
    collect() {
      this.reset();
      for (const { kind, result, count } of sources.openIdAnswers()) this.inc({ kind, result }, count);
    },
  });

  new prometheus.Gauge({
    name: 'auth_redis_up',
    help: '1 while the rate limits are counted in Redis, 0 while this process counts by itself. Each scrape counts once.',
    registers,
    async collect() {
      const up = await sources.redis();
      if (up === undefined) this.remove();
      else this.set(up ? 1 : 0);
    },
  });

  registerStored(prometheus, registry, sources);
}

/** Metrics that are read from the database. While the database is down, the scrape does not contain them. */
function registerStored(prometheus: Prometheus, registry: Registry, { outbox, events, logouts, clock }: Sources): void {
  const registers = [registry];
  const read = shared(() => outbox.outboxStats());
  const readEvents = shared(() => events.figures());
  const readLogouts = shared(() => logouts.figures());
  const stored = (name: string, help: string, look: () => Promise<number | undefined>): Gauge =>
    new prometheus.Gauge({
      name,
      help,
      registers,
      async collect() {
        const value = await look();
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });

  stored(
    'auth_mail_outbox_pending',
    'Mails that wait to be sent, over all replicas.',
    async () => (await read())?.pending,
  );
  stored(
    'auth_mail_outbox_oldest_pending_seconds',
    'Age of the oldest waiting mail, 0 without one.',
    async () => (await read())?.oldestPendingSeconds,
  );
  stored('auth_mail_outbox_dead', 'Mails that were given up and are not purged yet.', async () => (await read())?.dead);
  new prometheus.Counter({
    name: 'auth_mails_skipped_total',
    help: 'Mails that this process skipped because no mail server is configured.',
    registers,
    async collect() {
      const stats = await read();
      if (stats === undefined) return;
      this.reset();
      this.inc(stats.skipped);
    },
  });
  stored(
    'auth_events_waiting',
    'Events that wait for the webhook receiver, over all replicas.',
    async () => (await readEvents())?.waiting,
  );
  stored(
    'auth_events_oldest_waiting_seconds',
    'Age of the oldest waiting event, 0 without one.',
    async () => (await readEvents())?.oldestWaitingSeconds,
  );
  stored(
    'auth_events_dead',
    'Events that were given up and are not purged yet.',
    async () => (await readEvents())?.dead,
  );
  stored(
    'auth_logout_tokens_waiting',
    'Logout tokens that wait for their application, over all replicas.',
    async () => (await readLogouts())?.waiting,
  );
  stored(
    'auth_logout_tokens_oldest_waiting_seconds',
    'Age of the oldest waiting logout token, 0 without one.',
    async () => (await readLogouts())?.oldestWaitingSeconds,
  );
  stored(
    'auth_logout_tokens_failed',
    'Logout tokens that no application has accepted within a day, and that are not purged yet.',
    async () => (await readLogouts())?.failed,
  );
  new prometheus.Counter({
    name: 'auth_logout_token_attempts_total',
    help: 'Attempts to send a logout token by their result. postponed: it is sent again.',
    labelNames: ['result'],
    registers,
    collect() {
      const { results } = logouts;
      if (results === undefined) return;
      this.reset();
      for (const [result, count] of Object.entries(results)) this.inc({ result }, count);
    },
  });
  stored('auth_database_clock_offset_seconds', 'Clock of the database minus clock of this process.', () =>
    clock.offsetMs().then(
      (ms) => ms / 1000,
      () => undefined,
    ),
  );
}

/** prom-client collects all metrics of a scrape in parallel, so several metrics share one query. */
function shared<Figures>(look: () => Promise<Figures>): () => Promise<Figures | undefined> {
  let reading: Promise<Figures | undefined> | undefined;
  return () =>
    (reading ??= look()
      .catch(() => undefined)
      .finally(() => (reading = undefined)));
}
