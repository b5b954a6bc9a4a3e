import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import type { Sql } from '../platform/database/sql';
import { type OriginKeeper, type SignInOrigin, SignInOrigins } from '../sessions/sign-in-origins';
import { Clock } from '../shared/clock';
import type { User } from '../users/user.entity';
import { DomainError } from '../shared/errors/domain-error';
import { externalAnswerRejected } from '../shared/errors/error-catalogue';
import { ExternalAttributes } from './external-attributes';
import { ExternalIdentities } from './external-identities.repository';
import { ExternalSessions } from './external-sessions.repository';
import { ExternalSignIns, type HandedOver } from './external-sign-ins.repository';
import { IdentityProviders } from './identity-providers.repository';

/** Tells the sessions of a sign-in at a provider where they come from. */
@Injectable()
export class ExternalOrigins implements OriginKeeper {
  constructor(
    origins: SignInOrigins,
    private readonly signIns: ExternalSignIns,
    private readonly sessions: ExternalSessions,
    private readonly identities: ExternalIdentities,
    private readonly attributes: ExternalAttributes,
    private readonly providers: IdentityProviders,
    private readonly clock: Clock,
    private readonly database: Database,
  ) {
    origins.register(this);
  }

  of({ identityProviderId, userId, answer, answeredAt }: Omit<HandedOver, 'begun'>): SignInOrigin {
    const { sub: subject, sid: providerSid, mfa, askedAt, person } = answer;
    const now = this.clock.now();
    return {
      mfa,
      // A provider whose clock is ahead must not make a session that stays young for longer.
      askedAt: askedAt === undefined || askedAt > now.getTime() ? now : new Date(askedAt),
      follow: (tx, user, client) => this.attributes.follow(tx, user, person, client),
      began: async (tx, sid) => {
        await this.assertNotSignedOut(tx, { identityProviderId, answer, answeredAt });
        await this.sessions.begin(tx, { sid, userId, identityProviderId, subject, providerSid });
      },
    };
  }

  /** Of a new sign-in (`fresh`): the provider has asked after the request of this service, whatever its clock says. */
  ofFresh(signIn: HandedOver): Pick<SignInOrigin, 'mfa' | 'askedAt'> {
    const { mfa, askedAt } = this.of(signIn);
    return { mfa, askedAt: new Date(Math.max(askedAt.getTime(), signIn.begun.beganAt)) };
  }

  /**
   * A new sign-in is about to confirm a session of this service. If the provider names its sessions, the session of this service
   * belongs to the one of that sign-in from now on.
   * Race: the provider reports that its session has ended. If the report commits first, nothing is confirmed. A later report
   * finds the session of this service and ends it.
   */
  async confirms(sid: string, signIn: HandedOver): Promise<void> {
    await this.database.transaction(async (tx) => {
      await this.assertNotSignedOut(tx, signIn);
      await this.sessions.follow(tx, sid, signIn.answer.sid);
    });
  }

  /** A move erases the sign-ins of the user, so without one the pending login is that of a provider which vouches no longer. */
  async ofPending(tx: Sql, { uid, identityProviderId }: User, pendingId: string): Promise<SignInOrigin> {
    const found = await this.signIns.ofPending(tx, uid, pendingId);
    if (found?.identityProviderId !== identityProviderId) throw new DomainError(externalAnswerRejected);
    await this.assertEnabled(tx, found);
    return this.of(found);
  }

  /** The person may need minutes for the code of this service, and a disabled provider signs nobody in. */
  async assertEnabled(tx: Sql, { identityProviderId }: Pick<User, 'identityProviderId'>): Promise<void> {
    const provider = identityProviderId === null ? null : await this.providers.find(identityProviderId, tx);
    if (provider?.enabled !== true) throw new DomainError(externalAnswerRejected);
  }

  share(tx: Sql, from: string, to: string): Promise<void> {
    return this.sessions.share(tx, from, to);
  }

  /** The provider may have said since its answer that the person has signed out. */
  private async assertNotSignedOut(
    tx: Transaction,
    { identityProviderId, answer, answeredAt }: Pick<HandedOver, 'identityProviderId' | 'answer' | 'answeredAt'>,
  ): Promise<void> {
    const isValid = await this.identities.use(tx, identityProviderId, answer.sub, answeredAt);
    if (!isValid) throw new DomainError(externalAnswerRejected);
  }
}
