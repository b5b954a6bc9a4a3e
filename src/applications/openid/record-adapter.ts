import type { Adapter, AdapterPayload } from 'oidc-provider';
import type { ClientInfo } from '../../shared/client-info';
import type { Clock } from '../../shared/clock';
import type { ApplicationSessions } from '../application-sessions.repository';
import type { FoundRecord, OidcRecords, RecordFacts } from '../persistence/oidc-record.repository';
import type { Library } from './library';
import type { RequestReads } from './request-reads';
import type { ReusedGrants } from './reused-grants';

/** What the payloads of this service have in addition to those of the package. */
export interface OwnPayload {
  readonly credentialVersion?: number;
  /** The keyed hash of the cookie of the browser that began an interaction. */
  readonly browser?: string;
}

type StoredPayload = AdapterPayload & OwnPayload;

export interface RecordPorts {
  readonly records: OidcRecords;
  readonly reads: RequestReads;
  readonly applicationSessions: ApplicationSessions;
  readonly reusedGrants: Pick<ReusedGrants, 'end'>;
  readonly clock: Clock;
  readonly library: Library;
}

/** What a client without a sign-in makes. A URL is not longer either: Node refuses it. */
const ofVisitors = ['Interaction', 'PushedAuthorizationRequest', 'DeviceCode'];
const longestOfVisitors = 16_384;

/**
 * The package has to tell an expired record of these kinds from an unknown one: a device gets `expired_token` (RFC 8628 §3.5), and a
 * sign-in that began with a pushed request ends later than the request, which is used up all the same (RFC 9126 §4).
 */
const knownAfterTheirEnd = ['DeviceCode', 'PushedAuthorizationRequest'];

const offline = (scope: string | undefined): boolean => scope?.split(' ').includes('offline_access') === true;

/**
 * Stores the records of one kind (a model of the package). A record is found only while what it depends on lives: the
 * session of the service whose `sid` it has, the grant, the user with the same credential version. So whatever ends one of
 * them ends all records at once, also one that another replica inserts at the same time.
 */
export class RecordAdapter implements Adapter {
  constructor(
    private readonly kind: string,
    private readonly ports: RecordPorts,
  ) {}

  async upsert(id: string, payload: StoredPayload, expiresIn?: number): Promise<void> {
    const { records, clock, applicationSessions, library } = this.ports;
    const isTooLong = ofVisitors.includes(this.kind) && JSON.stringify(payload).length > longestOfVisitors;
    if (isTooLong && payload.result === undefined) throw new library.errors.InvalidRequest('the request is too long');
    // A user who refuses late changes a record that has expired. Its row would get an end in 1970, where no purge looks for it.
    if (knownAfterTheirEnd.includes(this.kind) && (expiresIn ?? 0) <= 0) return;
    const { accountId: userId, clientId: applicationId, sid, grantId } = payload;
    const facts: RecordFacts = {
      ...{ userId, applicationId, grantId, uid: this.kind === 'Session' ? payload.uid : undefined },
      userCode: payload.userCode,
      credentialVersion: payload.credentialVersion ?? null,
      sid: this.outlivesSession(payload) ? null : (sid ?? null),
      // A model without an end does not exist in this configuration; without a time the row would never be removed.
      expires: clock.secondsFromNow(expiresIn ?? 0),
    };
    await this.written(() => records.put(this.kind, id, payload, facts));
    if (this.kind === 'AuthorizationCode' || (this.kind === 'DeviceCode' && userId !== undefined)) {
      // When the session has ended, nothing is stored there, and the code is as dead as the session.
      if (sid !== undefined && applicationId !== undefined && userId !== undefined)
        await applicationSessions.begin({ sid, applicationId, userId }, this.client());
    }
  }

  private client(): ClientInfo | undefined {
    const { library } = this.ports;
    const request = library.Provider.ctx?.req as { portalClient?: ClientInfo } | undefined;
    return request?.portalClient;
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const { reads, records } = this.ports;
    const found = await (this.kind === 'Grant' ? reads.grant(id) : reads.record(this.kind, id));
    if (found !== undefined || !knownAfterTheirEnd.includes(this.kind)) return this.live(found);
    const expired = await this.live(await records.findAlsoExpired(this.kind, id));
    // In the time of the package, whose clock is that of the machine: long ago. It takes 0 for no time at all.
    return expired && { ...expired, exp: 1 };
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.live(await this.ports.records.findByUid(this.kind, uid));
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.live(await this.ports.records.findByUserCode(this.kind, userCode));
  }

  /**
   * The package reads `consumed` before it calls this, so two replicas can both come here: see `OidcRecords.consume`. The
   * loser ends the grant, as for every second use, and the client gets `invalid_grant`.
   */
  async consume(id: string): Promise<void> {
    const { records, library } = this.ports;
    if (await this.written(() => records.consume(this.kind, id))) return;
    const grantId = (await records.find(this.kind, id))?.payload.grantId;
    if (typeof grantId === 'string') await this.endReused(grantId);
    if (this.kind === 'PushedAuthorizationRequest')
      throw new library.errors.InvalidRequestUri('request_uri is invalid, expired, or was already used');
    throw new library.errors.InvalidGrant('already used');
  }

  destroy(id: string): Promise<void> {
    if (this.kind === 'Grant') return this.revokeByGrantId(id);
    return this.written(() => this.ports.records.remove(this.kind, id));
  }

  /** At the token endpoint the package ends a grant for one reason only: a code or token was used a second time. */
  revokeByGrantId(grantId: string): Promise<void> {
    const { records, library } = this.ports;
    const isReuse = library.Provider.ctx?.oidc.route === 'token';
    return this.written(() => (isReuse ? this.endReused(grantId) : records.endGrant(grantId)));
  }

  private endReused(grantId: string): Promise<void> {
    const { reusedGrants, library } = this.ports;
    return reusedGrants.end(grantId, String(library.Provider.ctx?.oidc.params?.grant_type), this.client());
  }

  /** What the request has read before or during a write may have changed by it. */
  private async written<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } finally {
      this.ports.reads.forget();
    }
  }

  private async live(found: FoundRecord | undefined): Promise<AdapterPayload | undefined> {
    if (found === undefined || !(await this.isAlive(found))) return undefined;
    const { payload, consumedAt } = found;
    // In the time of the package, whose clock is that of the machine. It only asks whether the value is there.
    return consumedAt === null ? payload : { ...payload, consumed: Math.floor(consumedAt.getTime() / 1000) };
  }

  private async isAlive({ payload, sid, userId, credentialVersion }: FoundRecord): Promise<boolean> {
    const { reads } = this.ports;
    if (this.kind === 'Session') return sid === null || this.isLiveSession(sid, userId, credentialVersion);
    if (this.kind === 'Grant')
      return (
        userId !== null &&
        credentialVersion !== null &&
        (await reads.unchangedUser({ uid: userId, credentialVersion })) !== null
      );
    if (typeof payload.grantId !== 'string' || this.kind === 'Interaction') return true;
    const grant = await reads.grant(payload.grantId);
    if (grant === undefined || grant.userId !== userId || userId === null || grant.credentialVersion === null)
      return false;
    if (sid !== null) return this.isLiveSession(sid, userId, grant.credentialVersion);
    return (await reads.unchangedUser({ uid: userId, credentialVersion: grant.credentialVersion })) !== null;
  }

  /** The session has not ended, the user is enabled, and the password is the one of the sign-in. */
  private async isLiveSession(sid: string, userId: string | null, credentialVersion: number | null): Promise<boolean> {
    if (userId === null || credentialVersion === null) return false;
    const user = { uid: userId, credentialVersion };
    const { reads } = this.ports;
    return (await reads.isLiveSession(sid, user)) && (await reads.unchangedUser(user)) !== null;
  }

  /**
   * With `offline_access` the tokens of a grant outlive the log-out. An access token has the scope of its resource only,
   * so the code or the refresh token that it is made from tells.
   */
  private outlivesSession({ scope }: AdapterPayload): boolean {
    const { library } = this.ports;
    const { entities } = library.Provider.ctx?.oidc ?? {};
    switch (this.kind) {
      case 'AccessToken':
        return offline((entities?.RefreshToken ?? entities?.AuthorizationCode ?? entities?.DeviceCode)?.scope);
      case 'RefreshToken':
        return offline(scope);
      default:
        return false;
    }
  }
}
