import type { JwtService } from '@nestjs/jwt';
import type { Counter, Gauge, Histogram } from 'prom-client';
import * as prometheus from 'prom-client';
import { auditEvent, loginEvent } from '../../../src/events/outbox/event';
import { auditTypes, loginTypes } from '../../../src/events/event-types';
import { RequestMetrics } from '../../../src/metrics/collect/request-metrics';
import { registerServiceMetrics } from '../../../src/metrics/collect/service-metrics';
import type { Sources } from '../../../src/metrics/collect/sources';
import type { Sql } from '../../../src/platform/database/sql';
import { loadConfig } from '../../../src/settings/app-config';
import { SystemClock } from '../../../src/shared/clock';
import * as catalogue from '../../../src/shared/errors/error-catalogue';
import { SystemRandom } from '../../../src/shared/random';
import type { RefreshAudience } from '../../../src/sessions/jwt/refresh-audience';
import { TokenIssuer } from '../../../src/sessions/jwt/token-issuer';
import { testSettings } from '../settings';
import type { Recorded } from './broken-promises';

/** Every error code with its status. */
export function errors(): Recorded {
  const entries = Object.values(catalogue).filter(
    (one): one is { code: string; status: number } & typeof one => typeof one === 'object' && 'code' in one,
  );
  return Object.fromEntries(entries.map(({ code, status }) => [code, status]).sort());
}

/** The types of the events, with the audit event of each, and the members of `data`. */
export function events(): Recorded {
  const nobody = { userId: null, actorId: null, ip: '', userAgent: '', requestId: '', createdAt: new Date(0) };
  const login = loginEvent({ ...nobody, loginName: '', provider: '', mfa: null, outcome: 'success' }, 1);
  const other = auditEvent({ ...nobody, event: 'USER_CREATED', detail: {} }, 1);
  return {
    types: Object.fromEntries([
      ...Object.entries(loginTypes).map(([outcome, type]) => [type, `login: ${outcome}`]),
      ...Object.entries(auditTypes).map(([event, type]) => [type, event]),
    ]) as Recorded,
    members: { event: Object.keys(other), 'data of a login': Object.keys(login.data), data: Object.keys(other.data) },
  };
}

/** The claims of a token. */
export async function tokens(): Promise<Recorded> {
  const config = loadConfig({ ...testSettings, DATABASE_URL: 'sqlite::memory:' });
  const unsigned = { sign: (claims: object) => JSON.stringify(claims) } as unknown as JwtService;
  const issuer = new TokenIssuer(unsigned, new SystemClock(), new SystemRandom(), config.jwt, {} as RefreshAudience);
  const session = {
    userId: 'u',
    sid: 's',
    tenantId: 't',
    orgUnitId: null,
    amr: [],
    authenticatedAt: new Date(),
    boundTo: 'k',
  };
  const claims = JSON.parse(await issuer.sign(session, issuer.firstTokens().access, {} as Sql)) as object;
  return { claims: Object.keys(claims) };
}

/** The metrics of the service with their types and labels, without those of Node and of the process. */
export async function metrics(): Promise<Recorded> {
  const registry = new prometheus.Registry();
  registerServiceMetrics(prometheus, registry, silence);
  new RequestMetrics(prometheus, registry);
  const types = new Map((await registry.getMetricsAsJSON()).map(({ name, type }) => [name, String(type)]));
  const all = registry.getMetricsAsArray() as unknown as (Counter | Gauge | Histogram)[];
  return Object.fromEntries(
    all.map((metric) => {
      const { name, labelNames } = metric as unknown as { name: string; labelNames: string[] };
      return [name, { type: types.get(name) ?? null, labels: [...labelNames].sort().join(', ') }];
    }),
  );
}

const zero = async () => Promise.resolve(undefined as never);
const silence: Sources = {
  version: '',
  hasher: () => ({
    ...{ engine: 'native', waiting: 0, running: 0, concurrency: 0, averageMs: 0 },
    ...{ completed: 0, refused: 0, abandoned: 0 },
  }),
  pool: () => undefined,
  receivers: { figures: zero },
  logouts: { figures: zero, results: undefined },
  redis: () => Promise.resolve(undefined),
  outbox: { outboxStats: zero },
  events: { figures: zero, droppedLines: 0 },
  droppedLogRecords: () => 0,
  clock: { offsetMs: async () => Promise.resolve(0) },
  failedBreachChecks: () => 0,
  lostLoginRows: () => 0,
  refusedProofs: () => new Map(),
  openIdAnswers: () => [],
  secretDays: () => Promise.resolve(new Map()),
  legacyChecks: () => ({ right: 0, wrong: 0, away: 0 }),
  scimRequests: () => [],
  externalSignIns: () => [],
  providerRequests: () => new Map(),
  offboardings: { figures: zero },
  maintenance: { lastPurge: zero, certificateDays: () => new Map() },
};
