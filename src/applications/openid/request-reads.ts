import type { LiveSession, LiveSessions } from '../../sessions/live-sessions';
import { type User, userStatus } from '../../users/user.entity';
import type { VersionedUser } from '../../users/user-locks';
import type { UsersRepository } from '../../users/users.repository';
import type { Application } from '../application.entity';
import type { Applications } from '../applications.repository';
import type { FoundRecord, OidcRecords } from '../persistence/oidc-record.repository';
import type { Library } from './library';

type Kept = Map<string, Promise<unknown>>;

interface Tables {
  readonly applications: Applications;
  readonly records: OidcRecords;
  readonly sessions: LiveSessions;
  readonly users: UsersRepository;
  readonly library: Library;
}

/**
 * What the provider reads to answer a request. The package looks up its models one by one, and all of them depend on the same
 * user, session, grant and application. Within one request, each of these rows is read once. A write of the request forgets
 * what was read before. Outside of a request of the provider nothing is kept.
 */
export class RequestReads {
  private readonly requests = new WeakMap<object, Kept>();

  constructor(private readonly tables: Tables) {}

  application(id: string): Promise<Application | null> {
    return this.once(`application ${id}`, () => this.tables.applications.find(id));
  }

  user(uid: string): Promise<User | null> {
    return this.once(`user ${uid}`, () => this.tables.users.findByUid(uid));
  }

  /** The user while enabled, not deleted, and under this credential version. */
  async unchangedUser({ uid, credentialVersion }: VersionedUser): Promise<User | null> {
    const user = await this.user(uid);
    const isUnchanged =
      user?.status === userStatus.enabled && user.deletedAt === null && user.credentialVersion === credentialVersion;
    return isUnchanged ? user : null;
  }

  session(sid: string, user: VersionedUser): Promise<LiveSession | undefined> {
    const key = `session ${sid} ${user.uid} ${user.credentialVersion}`;
    return this.once(key, () => this.tables.sessions.find(sid, user));
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
    const { ctx } = this.tables.library.Provider;
    if (ctx === undefined) return read();
    const kept: Kept = this.requests.get(ctx) ?? new Map<string, Promise<unknown>>();
    this.requests.set(ctx, kept);
    const known = kept.get(key) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const found = read();
    kept.set(key, found);
    return found;
  }
}
