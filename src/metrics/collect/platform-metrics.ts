import { storedGauges } from './metric-kinds';
import type { Registration } from './sources';

/** The program, its database and its Redis. */
export function registerPlatformMetrics(place: Registration): void {
  const { prometheus, registers, sources } = place;
  const stored = storedGauges(place);

  new prometheus.Gauge({
    name: 'auth_build_info',
    help: 'Always 1. The labels show the versions of the service and of Node.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: sources.version, node: process.version }, 1);

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

  stored('auth_database_clock_offset_seconds', 'Clock of the database minus clock of this process.', () =>
    sources.clock.offsetMs().then(
      (ms) => ms / 1000,
      () => undefined,
    ),
  );
}
