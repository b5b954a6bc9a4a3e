import type { Gauge } from 'prom-client';
import type { Registration } from './sources';

type Place = Pick<Registration, 'prometheus' | 'registers'>;

export const gauges =
  ({ prometheus, registers }: Place) =>
  (name: string, help: string, read: () => number) =>
    new prometheus.Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });

/** For numbers that a source counts from the start of the process on. */
export const counters =
  ({ prometheus, registers }: Place) =>
  (name: string, help: string, read: () => number) =>
    new prometheus.Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });

/** For numbers that are read from the database. While the database is down, the scrape does not contain them. */
export const storedGauges =
  ({ prometheus, registers }: Place) =>
  (name: string, help: string, look: () => Promise<number | undefined>): Gauge =>
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

/** prom-client collects all metrics of a scrape in parallel, so several metrics share one query. */
export function shared<Figures>(look: () => Promise<Figures>): () => Promise<Figures | undefined> {
  let reading: Promise<Figures | undefined> | undefined;
  return () =>
    (reading ??= look()
      .catch(() => undefined)
      .finally(() => (reading = undefined)));
}
