import {
  Inject,
  Injectable,
  Logger,
  Optional,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { ThrottlerStorage } from '@nestjs/throttler';
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { LogoutTokens } from '../applications/logout-tokens';
import { OpenIdCounts } from '../applications/openid-counts';
import { ProviderRequestCounts } from '../identity-providers/provider-request-counts';
import { LoginJournal } from '../audit/login-journal';
import { EventOutbox } from '../events/event-outbox';
import { ReceiverDelivery } from '../events/receiver-delivery';
import { OfferedProviders } from '../identity-providers/offered-providers';
import { ExternalSignInCounts } from '../identity-providers/external-sign-in-counts';
import { LegacySystem } from '../legacy/legacy-system';
import { MailOutbox } from '../mail/mail-outbox';
import { OffboardingWorker } from '../offboarding/offboarding-worker';
import { PasswordChecks } from '../password-reset/password-checks';
import { HttpSettings } from '../platform/config/http-settings';
import { DatabaseClock } from '../platform/database/database-clock';
import { poolCounts } from '../platform/database/mysql-pool';
import { LogExport } from '../platform/logging/log-export';
import { SharedCounters } from '../platform/limits/shared-counters';
import { PasswordHasher } from '../hashing/password-hasher';
import { ProofRefusals } from '../sessions/proof-refusals';
import { ProvisioningCounts } from '../users/provisioning-counts';
import { version } from '../platform/version';
import { RequestMetrics } from './collect/request-metrics';
import { registerServiceMetrics } from './collect/service-metrics';
import { MaintenanceFigures } from './maintenance-figures';
import { MetricsListener } from './metrics-listener';

/** Prometheus metrics on `METRICS_PORT`. Without that setting nothing is loaded, counted or served. */
@Injectable()
export class Metrics implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('metrics');
  private registry: Registry | undefined;
  private listener: MetricsListener | undefined;

  constructor(
    private readonly settings: HttpSettings,
    private readonly dataSource: DataSource,
    private readonly hasher: PasswordHasher,
    private readonly outbox: MailOutbox,
    private readonly events: EventOutbox,
    private readonly receivers: ReceiverDelivery,
    private readonly clock: DatabaseClock,
    private readonly passwords: PasswordChecks,
    private readonly journal: LoginJournal,
    private readonly proofs: ProofRefusals,
    private readonly logouts: LogoutTokens,
    private readonly openId: OpenIdCounts,
    private readonly providers: OfferedProviders,
    private readonly provisioning: ProvisioningCounts,
    private readonly externalSignIns: ExternalSignInCounts,
    private readonly providerRequests: ProviderRequestCounts,
    private readonly offboardings: OffboardingWorker,
    private readonly maintenance: MaintenanceFigures,
    private readonly legacy: LegacySystem,
    /** Undefined with `RATE_LIMIT=off`. */
    @Optional() @Inject(ThrottlerStorage) private readonly counters?: ThrottlerStorage,
    /** Undefined without `OTEL_LOGS_EXPORTER`. */
    @Optional() @Inject(LogExport) private readonly logExport?: LogExport,
  ) {}

  /** Must be called before the routes are registered. Otherwise the requests of these routes are not counted. */
  async watch(fastify: FastifyInstance): Promise<void> {
    if (this.settings.metricsPort === undefined) return;
    const prometheus = await import('prom-client');
    const registry = new prometheus.Registry();
    prometheus.collectDefaultMetrics({ register: registry });
    registerServiceMetrics(prometheus, registry, {
      version,
      hasher: () => this.hasher.stats(),
      pool: () => poolCounts(this.dataSource),
      redis: async () => (this.counters instanceof SharedCounters ? this.counters.redisCounts() : undefined),
      outbox: this.outbox,
      events: this.events,
      receivers: this.receivers,
      logouts: this.logouts,
      offboardings: this.offboardings,
      openIdAnswers: () => this.openId.all,
      secretDays: () => this.providers.secretDays(),
      scimRequests: () => this.provisioning.all,
      externalSignIns: () => this.externalSignIns.all,
      providerRequests: () => this.providerRequests.all,
      maintenance: this.maintenance,
      clock: this.clock,
      droppedLogRecords: () => this.logExport?.dropped ?? 0,
      lostLoginRows: () => this.journal.lostRows,
      refusedProofs: () => this.proofs.byProblem,
      legacyChecks: () => this.legacy.counts,
      failedBreachChecks: () => this.passwords.failedBreachChecks,
    });
    new RequestMetrics(prometheus, registry).watch(fastify);
    this.registry = registry;
  }

  /** @throws when the port is in use: the program then does not start */
  async onApplicationBootstrap(): Promise<void> {
    const { host, metricsPort } = this.settings;
    if (this.registry === undefined || metricsPort === undefined) return;
    this.listener = await MetricsListener.open(this.registry, host, metricsPort);
    this.logger.log({ host, port: this.listener.port }, 'metrics are served');
  }

  /** Runs in the last phase of the shutdown, so that the drain can be monitored. */
  async onApplicationShutdown(): Promise<void> {
    this.registry?.clear();
    await this.listener?.close();
    this.listener = undefined;
  }
}
