import type { Registry } from 'prom-client';
import type { LogoutTokens } from '../../applications/logout-tokens';
import type { OpenIdCounts } from '../../applications/openid-counts';
import type { ExternalSignInCounts } from '../../identity-providers/external-sign-in-counts';
import type { ProviderRequestCounts } from '../../identity-providers/provider-request-counts';
import type { EventOutbox } from '../../events/event-outbox';
import type { ReceiverDelivery } from '../../events/receiver-delivery';
import type { LegacySystem } from '../../legacy/legacy-system';
import type { MailOutbox } from '../../mail/mail-outbox';
import type { OffboardingWorker } from '../../offboarding/offboarding-worker';
import type { DatabaseClock } from '../../platform/database/database-clock';
import type { PoolCounts } from '../../platform/database/mysql-pool';
import type { ProvisioningCounts } from '../../users/provisioning-counts';
import type { MaintenanceFigures } from '../maintenance-figures';
import type { HasherStats } from '../../hashing/password-hasher';

/** Where the metrics of a subject are registered, and what they read. */
export interface Registration {
  readonly prometheus: typeof import('prom-client');
  readonly registers: [Registry];
  readonly sources: Sources;
}

/** The sources of the metrics. A scrape reads them; nothing else does. */
export interface Sources {
  readonly version: string;
  readonly hasher: () => HasherStats;
  readonly pool: () => PoolCounts | undefined;
  /** Undefined when no Redis is configured. */
  readonly redis: () => Promise<boolean | undefined>;
  readonly outbox: Pick<MailOutbox, 'outboxStats'>;
  readonly events: Pick<EventOutbox, 'figures' | 'droppedLines'>;
  readonly receivers: Pick<ReceiverDelivery, 'figures'>;
  readonly logouts: Pick<LogoutTokens, 'figures' | 'results'>;
  readonly offboardings: Pick<OffboardingWorker, 'figures'>;
  readonly maintenance: Pick<MaintenanceFigures, 'lastPurge' | 'certificateDays'>;
  readonly clock: Pick<DatabaseClock, 'offsetMs'>;
  readonly failedBreachChecks: () => number;
  readonly legacyChecks: () => LegacySystem['counts'];
  readonly droppedLogRecords: () => number;
  readonly lostLoginRows: () => number;
  readonly refusedProofs: () => ReadonlyMap<string, number>;
  readonly openIdAnswers: () => OpenIdCounts['all'];
  /** The days until the secrets of the enabled identity providers end, by their ids. */
  readonly secretDays: () => Promise<ReadonlyMap<string, number>>;
  readonly scimRequests: () => ProvisioningCounts['all'];
  readonly externalSignIns: () => ExternalSignInCounts['all'];
  readonly providerRequests: () => ProviderRequestCounts['all'];
}
