import type { Registry } from 'prom-client';
import { registerMaintenanceMetrics } from './maintenance-metrics';
import { registerOutboxMetrics } from './outbox-metrics';
import { registerPasswordMetrics } from './password-metrics';
import { registerPlatformMetrics } from './platform-metrics';
import { registerSignInMetrics } from './sign-in-metrics';
import type { Registration, Sources } from './sources';

/** Registers metrics that read other services at each scrape. Those services need no code for metrics. */
export function registerServiceMetrics(
  prometheus: Registration['prometheus'],
  registry: Registry,
  sources: Sources,
): void {
  const place: Registration = { prometheus, registers: [registry], sources };
  registerPlatformMetrics(place);
  registerPasswordMetrics(place);
  registerSignInMetrics(place);
  registerOutboxMetrics(place);
  registerMaintenanceMetrics(place);
}
