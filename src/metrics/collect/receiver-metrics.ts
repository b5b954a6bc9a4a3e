import type { ReceiverFigures } from '../../events/receiver-delivery';
import { shared } from './metric-kinds';
import type { Registration } from './sources';

/** How far each further receiver of events is. There are at most 20, and each one is a label. */
export function registerReceiverMetrics({ prometheus, registers, sources }: Registration): void {
  const read = shared(() => sources.receivers.figures());
  const stored = (name: string, help: string, value: (figures: ReceiverFigures) => number) =>
    new prometheus.Gauge({
      name,
      help,
      labelNames: ['receiver'],
      registers,
      async collect() {
        const all = await read();
        // A receiver that was deleted, and all of them while the database is down, are not part of the scrape.
        this.reset();
        for (const figures of all ?? []) this.set({ receiver: figures.receiver }, value(figures));
      },
    });

  stored(
    'auth_event_receiver_waiting',
    'Events that a receiver has not got yet, over all replicas.',
    ({ waiting }) => waiting,
  );
  stored(
    'auth_event_receiver_failing_seconds',
    'For how long a receiver has not accepted an event that was posted, 0 while it accepts them or is paused.',
    ({ failingSeconds }) => failingSeconds,
  );
  stored(
    'auth_event_receiver_set_aside',
    'Events that a receiver has refused for so long that the next ones were sent.',
    ({ setAside }) => setAside,
  );
}
