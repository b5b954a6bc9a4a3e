import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { Clock } from '../shared/clock';
import { DomainError } from '../shared/errors/domain-error';
import { directoryUnavailable, refreshTokenRejected } from '../shared/errors/error-catalogue';
import { AuditTrail } from '../audit/audit-trail';
import type { DirectoryPerson } from '../directory/person';
import { DirectoryStanding, type Objection } from '../directory/standing';
import { directoryBudgetMs } from '../directory/ldap-limits';
import { DirectorySettings } from '../directory/ldap-settings';
import { FollowedGroups } from '../groups/followed-groups';
import { Database } from '../platform/database/database';
import { DirectoryAccounts, type Look, seenAtOf } from '../users/directory-accounts';
import type { User } from '../users/user.entity';
import { UsersRepository } from '../users/users.repository';
import { LiveSessions } from './live-sessions';
import type { TokenPayload } from './token-payload';
import { TokenRevoker } from './token-revoker';

/** Without `sid`: a grant of an application that outlives its session. */
type Refreshed = Pick<TokenPayload, 'sub'> & { readonly sid: string | undefined };

type SeenUser = Pick<User, 'uid'> & Parameters<typeof seenAtOf>[0];

/** The claim of a look ends after this time, if its replica was killed. It is longer than the look can take. */
const claimSeconds = 15;
/** More looks at a time are not made, so that a silent directory does not collect connections. */
const mostLooks = 32;
const pollMs = 100;

/**
 * Asks the directory about its users at `/refresh` (docs/spec/extensions.md#c). While it asks, it holds no connection of
 * the database. Local users never come here.
 */
@Injectable()
export class DirectoryRecheck {
  private readonly logger = new Logger('directory');
  private looking = 0;

  constructor(
    private readonly standing: DirectoryStanding,
    private readonly accounts: DirectoryAccounts,
    private readonly users: UsersRepository,
    private readonly sessions: LiveSessions,
    private readonly revoker: TokenRevoker,
    private readonly audit: AuditTrail,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly settings: DirectorySettings,
    private readonly groups: FollowedGroups,
  ) {}

  /** @param seenAt when the directory last had no objection to the user; null for a local user */
  isDue(seenAt: Date | null): seenAt is Date {
    const { ldap } = this.settings;
    if (seenAt === null || ldap === undefined || ldap.recheck.seconds === 0) return false;
    return seenAt <= this.clock.secondsFromNow(-ldap.recheck.seconds);
  }

  /**
   * Asks about a user whose look is due, unless another refresh does. Without an answer, the refresh goes on until the
   * end of the grace period.
   * @throws DomainError AUTH_401006 when the directory has an objection: the sessions of the user have then ended.
   *   LOGIN_503001 when it is not known and the grace period is over: the session stays
   */
  async assertStanding({ sub: uid, sid }: Refreshed, seenAt: Date, client: ClientInfo): Promise<void> {
    const since = this.clock.secondsFromNow(-this.settings.ldap!.recheck.seconds);
    if (this.looking < mostLooks) {
      this.looking++;
      try {
        const look = await this.accounts.claimLook(uid, since, claimSeconds);
        if (look !== undefined) return await this.look(look, sid, seenAt, client);
      } finally {
        this.looking--;
      }
    }
    if (this.withinGrace(seenAt)) return;
    if (!(await this.seenByAnother(uid, since))) throw new DomainError(directoryUnavailable);
  }

  /** For a user whose row was read anyway: asks if the look is due. @throws DomainError as `assertStanding` */
  async assertStandingOf(user: SeenUser, sid: string | undefined, client: ClientInfo): Promise<void> {
    const seenAt = seenAtOf(user);
    if (this.isDue(seenAt)) await this.assertStanding({ sub: user.uid, sid }, seenAt, client);
  }

  private async look(look: Look, sid: string | undefined, seenAt: Date, client: ClientInfo): Promise<void> {
    try {
      const user = await this.users.findByUid(look.uid);
      if (user === null) throw new DomainError(refreshTokenRejected);
      // A look that ended the sessions may have finished between the check of this token and this claim.
      if (sid !== undefined && (await this.sessions.find(sid, user)) === undefined) {
        await this.accounts.giveUpLook(look);
        throw new DomainError(refreshTokenRejected);
      }
      const person = await this.standing.personOf(user, performance.now() + directoryBudgetMs);
      const objection = this.objectionTo(user, person);
      if (objection === undefined) {
        const names = person?.groups.names;
        if (names !== undefined) await this.groups.sync(client, user, { source: 'directory' }, names);
        await this.accounts.finishLook(look);
      } else await this.endSessions(look, user, objection, client);
    } catch (error) {
      if (!(error instanceof DomainError) || error.entry !== directoryUnavailable) throw error;
      await this.accounts.giveUpLook(look);
      if (!this.withinGrace(seenAt)) throw error;
    }
  }

  private objectionTo({ isAdmin }: User, person: DirectoryPerson | undefined): string | undefined {
    const objection = this.standing.objectionTo(person);
    if (objection !== undefined) return reasons[objection];
    return isAdmin && person?.groups.admin === false ? noLongerAdmin : undefined;
  }

  /** A login since the claim is a newer look. This refresh then tells nothing, and the next one decides. */
  private async endSessions(look: Look, { uid: userId }: User, reason: string, client: ClientInfo): Promise<never> {
    const ended = await this.database.transaction(async (tx) => {
      if (!(await this.accounts.refuseByLook(tx, look))) return false;
      await this.revoker.markRevoked(tx, userId);
      await this.audit.record(tx, 'USER_DIRECTORY_SESSIONS_ENDED', { userId, client, detail: { reason } });
      if (reason === noLongerAdmin && (await this.accounts.setAdmin(tx, userId, false))) {
        await this.audit.record(tx, 'USER_ADMIN_CHANGED', { userId, client, detail: { is_admin: false } });
      }
      return true;
    });
    if (!ended) throw new DomainError(directoryUnavailable);
    this.logger.log({ requestId: client.requestId, userId, reason }, 'the sessions of a directory user have ended');
    throw new DomainError(refreshTokenRejected);
  }

  private withinGrace(seenAt: Date): boolean {
    return seenAt > this.clock.secondsFromNow(-this.settings.ldap!.recheck.graceSeconds);
  }

  /** After the grace period a refresh waits for the look of another one, instead of going on without it. */
  private async seenByAnother(uid: string, since: Date): Promise<boolean> {
    const until = performance.now() + directoryBudgetMs;
    for (;;) {
      const state = await this.accounts.lookState(uid);
      if (state !== undefined && state.seenAt > since) return true;
      const looking = state?.lookUntil != null && state.lookUntil > this.clock.now();
      if (!looking || performance.now() >= until) return false;
      await pause(pollMs);
    }
  }
}

/** As the audit says it. */
const reasons: Readonly<Record<Objection, string>> = {
  gone: 'the directory entry is gone',
  disabled: 'disabled in the directory',
  expired: 'expired in the directory',
  'not in the group': 'no longer in LDAP_GROUP_REQUIRED',
};
const noLongerAdmin = 'no longer in LDAP_GROUP_ADMIN';
