import type { LiveSessions } from '../../sessions/live-sessions';
import { isUuid } from '../../shared/uuid';
import { userStatus } from '../../users/user.entity';
import type { VersionedUser } from '../../users/user-locks';
import type { UsersRepository } from '../../users/users.repository';
import type { Application } from '../application.entity';
import type { Applications } from '../applications.repository';
import type { FoundInContext, FoundRecord, OidcRecords, ProviderUser } from '../persistence/oidc-record.repository';
import type { Library } from './library';

type Kept = Map<string, Promise<unknown>>;

interface Tables {
  readonly applications: Applications;
  readonly records: OidcRecords;
  readonly sessions: LiveSessions;
  readonly users: UsersRepository;
  readonly library: Library;
}

const keyOfSession = (sid: string, { uid, credentialVersion }: VersionedUser): string =>
  `session ${sid} ${uid} ${credentialVersion}`;

/**
 * What the provider reads to answer a request. The package looks up its models one by one, and all of them depend on the same
 * user, session, grant and application. Within one request, each of these rows is read once, and most of them with the token of
 * the request (`record`). A write of the request forgets what was read before. Outside of a request of the provider nothing is kept.
 */
export class RequestReads {
  private readonly requests = new WeakMap<object, Kept>();

  constructor(private readonly tables: Tables) {}

  /**
   * Reads a record. What it depends on comes with the same statement, and is kept for the rest of the request. Whatever did not
   * come is read on its own when somebody asks for it.
   */
  record(kind: string, id: string): Promise<FoundRecord | undefined> {
    const kept = this.keptNow();
    return this.once(`record ${kind} ${id}`, async () => {
      const found = await this.tables.records.findInContext(kind, id);
      // A write during the statement has put another map in the place of this one.
      if (kept !== undefined && found !== undefined) keepContext(kept, found);
      return found?.record;
    });
  }

  /** The application that asks. At a refresh it comes with the token, which is read anyway. */
  async client(id: string): Promise<Application | null> {
    if (!isUuid(id)) return null;
    const { grant_type: grantType, refresh_token: token } = this.tables.library.Provider.ctx?.oidc.body ?? {};
    if (grantType === 'refresh_token' && typeof token === 'string') await this.record('RefreshToken', token);
    return this.application(id);
  }

  application(id: string): Promise<Application | null> {
    return this.once(`application ${id}`, () => this.tables.applications.find(id));
  }

  user(uid: string): Promise<ProviderUser | null> {
    return this.once(`user ${uid}`, () => this.tables.users.findByUid(uid));
  }

  /** The user while enabled, not deleted, and under this credential version. */
  async unchangedUser({ uid, credentialVersion }: VersionedUser): Promise<ProviderUser | null> {
    const user = await this.user(uid);
    const isUnchanged =
      user?.status === userStatus.enabled && user.deletedAt === null && user.credentialVersion === credentialVersion;
    return isUnchanged ? user : null;
  }

  isLiveSession(sid: string, user: VersionedUser): Promise<boolean> {
    return this.once(keyOfSession(sid, user), async () => (await this.tables.sessions.find(sid, user)) !== undefined);
  }

  grant(id: string): Promise<FoundRecord | undefined> {
    return this.once(`grant ${id}`, () => this.tables.records.find('Grant', id));
  }

  /** To be called after each write of the request. */
  forget(): void {
    const { ctx } = this.tables.library.Provider;
    if (ctx !== undefined) this.requests.delete(ctx);
  }

  private once<T>(key: string, read: () => Promise<T>): Promise<T> {
    const kept = this.keptNow();
    if (kept === undefined) return read();
    const known = kept.get(key) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const found = read();
    kept.set(key, found);
    return found;
  }

  /** What the present request has read. */
  private keptNow(): Kept | undefined {
    const { ctx } = this.tables.library.Provider;
    if (ctx === undefined) return undefined;
    const kept: Kept = this.requests.get(ctx) ?? new Map<string, Promise<unknown>>();
    this.requests.set(ctx, kept);
    return kept;
  }
}

function keepContext(kept: Kept, { record, grant, user, application, sessionLives }: FoundInContext): void {
  const keep = (key: string, value: unknown): void => {
    if (!kept.has(key)) kept.set(key, Promise.resolve(value));
  };
  // MySQL ignores spaces at the end of a text that it compares: only exact identifiers count.
  if (user !== undefined && user.uid === record.userId) keep(`user ${user.uid}`, user);
  if (application !== undefined && application.id === record.applicationId)
    keep(`application ${application.id}`, application);
  if (grant !== undefined) keep(`grant ${String(record.payload.grantId)}`, grant);
  const credentialVersion = (grant ?? record).credentialVersion;
  if (sessionLives && record.sid !== null && record.userId !== null && credentialVersion !== null)
    keep(keyOfSession(record.sid, { uid: record.userId, credentialVersion }), true);
}
