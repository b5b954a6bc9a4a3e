import { counters, shared, storedGauges } from './metric-kinds';
import { registerReceiverMetrics } from './receiver-metrics';
import type { Registration } from './sources';

/** What waits to be sent: mails, events, logout tokens, and the receipts of people who have left. */
export function registerOutboxMetrics(place: Registration): void {
  const { prometheus, registers, sources } = place;
  const { outbox, events, logouts, offboardings, droppedLogRecords } = sources;
  const [counter, stored] = [counters(place), storedGauges(place)];
  const read = shared(() => outbox.outboxStats());
  const readEvents = shared(() => events.figures());
  const readLogouts = shared(() => logouts.figures());
  const readOffboardings = shared(() => offboardings.figures());

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

  counter(
    'auth_audit_lines_dropped_total',
    'Lines of AUDIT_STREAM that were dropped because standard output was not read.',
    () => events.droppedLines ?? 0,
  );
  counter(
    'auth_log_records_dropped_total',
    'Log records of OTEL_LOGS_EXPORTER that were dropped because the collector did not take them.',
    droppedLogRecords,
  );

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

  registerReceiverMetrics(place);

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

  stored(
    'auth_offboardings_open',
    'People who have left and of whom a receiver has not answered yet, over all replicas.',
    async () => (await readOffboardings())?.open,
  );
  stored(
    'auth_offboardings_oldest_open_seconds',
    'Age of the oldest open off-boarding, 0 without one.',
    async () => (await readOffboardings())?.oldestOpenSeconds,
  );
}
