import { shared, storedGauges } from './metric-kinds';
import type { Registration } from './sources';

/** What operators have to do in time. */
export function registerMaintenanceMetrics(place: Registration): void {
  const { prometheus, registers, sources } = place;
  const { maintenance } = sources;
  storedGauges(place)(
    'auth_purge_last_success_timestamp_seconds',
    'When a purge has last come to its end. Missing when none has.',
    shared(() => maintenance.lastPurge()),
  );
  new prometheus.Gauge({
    name: 'auth_certificate_days_left',
    help: 'Days until the first certificate of a configured authority ends, by the setting; negative when it has.',
    labelNames: ['setting'],
    registers,
    collect() {
      for (const [setting, days] of maintenance.certificateDays()) this.set({ setting }, days);
    },
  });
}
