import { Injectable, Optional } from '@nestjs/common';
import { type Actor, Operator } from '../audit/actor';
import { AuditTrail } from '../audit/audit-trail';
import { EventOutbox } from '../events/event-outbox';
import { Mailer } from '../mail/mailer';
import type { Gated } from '../platform/database/cooldown.repository';
import type { Transaction } from '../platform/database/database';
import { UserTraces } from '../platform/database/user-traces';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { TokenRevoker } from '../sessions/token-revoker';
import { UserAccounts } from '../users/user-accounts';
import { type User, userStatus } from '../users/user.entity';
import { OffboardingWorker } from './offboarding-worker';
import type { EndedStep, OffboardingOrigin } from './persistence/offboarding.entity';
import { OffboardingRows } from './persistence/offboarding.repository';

export { type OffboardingOrigin, offboardingOrigins } from './persistence/offboarding.entity';

/** Who lets somebody leave. Without an actor it is the operator of a command. */
export interface OffboardingCause {
  readonly via: OffboardingOrigin;
  readonly actor?: Actor;
}

/**
 * Somebody leaves (docs/spec/extensions.md#offboarding, ADR 0039): one transaction disables the account, ends everything that was
 * issued to it, queues what tells the applications and the webhook receiver, and writes the record of all that.
 */
@Injectable()
export class Offboardings {
  constructor(
    private readonly rows: OffboardingRows,
    private readonly accounts: UserAccounts,
    private readonly revoker: TokenRevoker,
    private readonly traces: UserTraces,
    private readonly events: EventOutbox,
    private readonly audit: AuditTrail,
    private readonly mailer: Mailer,
    private readonly worker: OffboardingWorker,
    private readonly clock: Clock,
    private readonly random: Random,
    @Optional() private readonly operator?: Operator,
  ) {}

  /**
   * The caller decides who may do this. The transaction must hold the gate row of the links and the row of the user.
   * Race: several callers for one user, and an administrator beside SCIM. They run one after the other, and the later ones
   * find an account that has left: they change nothing, and get the record of the first.
   * @param user as read under the lock
   * @returns false when the user had left before
   */
  async begin(tx: Gated<'reset'>, user: User, { via, actor }: OffboardingCause): Promise<boolean> {
    if (await this.haveEnded(user, tx)) return false;
    const wasEnabled = user.status === userStatus.enabled;
    const [id, beganAt, beganBy] = [this.random.uuid(), this.clock.now(), this.nameOf(actor)];
    await this.rows.insert(tx, {
      ...{ id, userId: user.uid, via, beganBy, beganAt, nextCheckAt: beganAt },
      ...{ webhook: this.events.isOn, steps: JSON.stringify(await this.end(tx, user)) },
    });
    await this.record(tx, user, actor, { offboarding: id, via });
    if (wasEnabled) {
      const cause = { change: 'disabled', by: 'administrator', language: actor?.client.language } as const;
      await this.mailer.queueAccountChanged(tx, user, cause);
    }
    tx.afterCommit(() => this.worker.nudge());
    return true;
  }

  /** Whether the user has left, and has not come back. @param user as read under the lock of the transaction */
  async haveEnded({ uid, status }: User, tx: Transaction): Promise<boolean> {
    return status !== userStatus.enabled && (await this.rows.lasts(tx, uid));
  }

  /** The account is enabled again: a line more in its record. The transaction must hold the row of the user. */
  restored(tx: Transaction, uid: string, actor?: Actor): Promise<void> {
    return this.rows.restore(tx, uid, this.clock.now(), this.nameOf(actor));
  }

  private async end(tx: Gated<'reset'>, user: User): Promise<EndedStep[]> {
    const steps: EndedStep[] = [];
    const ended = (step: string, count: number) =>
      steps.push({ step, ended: count, at: this.clock.now().toISOString() });
    await this.accounts.change(tx, user, { status: userStatus.disabled });
    ended('account', user.status === userStatus.enabled ? 1 : 0);
    for (const [step, count] of Object.entries(await this.revoker.leave(tx, user))) ended(step, count);
    for await (const [step, count] of this.traces.leave(tx, user.uid)) ended(step, count);
    return steps;
  }

  private async record(
    tx: Transaction,
    { uid: userId, status: from }: User,
    actor: Actor | undefined,
    detail: Readonly<Record<string, string>>,
  ): Promise<void> {
    const to = userStatus.disabled;
    if (from !== to) await this.audit.record(tx, 'USER_STATUS_CHANGED', { userId, actor, detail: { from, to } });
    await this.audit.record(tx, 'USER_OFFBOARDING_STARTED', { userId, actor, detail });
  }

  private nameOf(actor: Actor | undefined): string | null {
    return actor?.id ?? this.operator?.name ?? null;
  }
}
