import { Injectable } from '@nestjs/common';
import { LogoutTokens } from '../applications/logout-tokens';
import { EventOutbox } from '../events/event-outbox';
import type { EndedStep, OffboardingOrigin, OffboardingRow } from './persistence/offboarding.entity';
import { OffboardingRows } from './persistence/offboarding.repository';

/** Somebody who is told that a person has left, and what they answered. Times are ISO 8601, because rows keep this as JSON. */
export interface Receiver {
  readonly kind: 'application' | 'webhook';
  /** Of the application; null for the webhook receiver. */
  readonly id: string | null;
  /** Null for the webhook receiver, and when the application was deleted. */
  readonly name: string | null;
  /** The sessions of the application that had to end; null for the webhook receiver. */
  readonly sessions: number | null;
  readonly status: 'waiting' | 'told' | 'failed' | 'not_offered';
  readonly attempts: number | null;
  readonly answered_at: string | null;
  readonly answer: string | null;
  readonly next_attempt_at: string | null;
}

export interface OffboardingReceipt {
  readonly id: string;
  readonly userId: string;
  readonly via: OffboardingOrigin;
  readonly beganBy: string | null;
  readonly beganAt: Date;
  readonly steps: readonly EndedStep[];
  readonly receivers: readonly Receiver[];
  /** Whether each receiver has answered or was given up. */
  readonly complete: boolean;
  /** When the last of them did. Null while one of them is waited for. */
  readonly completedAt: Date | null;
  readonly seconds: number | null;
  /** Receivers that never accepted it. */
  readonly givenUp: number;
  readonly restoredAt: Date | null;
  readonly restoredBy: string | null;
}

export interface OffboardingFigures {
  readonly open: number;
  /** 0 when none is open. */
  readonly oldestOpenSeconds: number;
}

const never = new Date('9999-12-31T00:00:00Z');

/** What became of an off-boarding: its steps, and what each receiver answered (ADR 0039). */
@Injectable()
export class OffboardingReceipts {
  constructor(
    private readonly rows: OffboardingRows,
    private readonly logouts: LogoutTokens,
    private readonly events: EventOutbox,
  ) {}

  /** The newest first. Also of a deleted user: the record has the uid alone. */
  async of(userId: string): Promise<OffboardingReceipt[]> {
    const receipts: OffboardingReceipt[] = [];
    for (const row of await this.rows.of(userId)) receipts.push(await this.receiptOf(row));
    return receipts;
  }

  async receiptOf(row: OffboardingRow): Promise<OffboardingReceipt> {
    const steps = JSON.parse(row.steps) as EndedStep[];
    const receivers = row.receivers === null ? await this.receiversOf(row) : (JSON.parse(row.receivers) as Receiver[]);
    const complete = receivers.every(({ status }) => status !== 'waiting');
    const times = [row.beganAt.toISOString(), ...steps.map(({ at }) => at), ...receivers.map((one) => one.answered_at)];
    const last = times.reduce((a, b) => (a !== null && b !== null && b < a ? a : (b ?? a)))!;
    const completedAt = complete ? (row.completedAt ?? new Date(last)) : null;
    return {
      ...{ id: row.id, userId: row.userId, via: row.via, beganBy: row.beganBy, beganAt: row.beganAt },
      ...{ steps, receivers, complete, completedAt },
      seconds: completedAt === null ? null : Math.max(0, completedAt.getTime() - row.beganAt.getTime()) / 1000,
      givenUp: receivers.filter(({ status }) => status === 'failed').length,
      ...{ restoredAt: row.restoredAt, restoredBy: row.restoredBy },
    };
  }

  private async receiversOf({ userId, beganAt, restoredAt, webhook }: OffboardingRow): Promise<Receiver[]> {
    const told = await this.logouts.told(userId, beganAt, restoredAt ?? never);
    const applications = told.map(({ id, name, sessions, ...state }) => ({
      ...{ kind: 'application' as const, id, name, sessions, ...wired(state) },
      ...(state.status === 'waiting' && !this.logouts.isOn ? { answer: 'OIDC is off' } : {}),
    }));
    if (!webhook) return applications;
    const delivery = await this.events.delivery(userId, 'USER_OFFBOARDING_STARTED', beganAt);
    return [...applications, { kind: 'webhook', id: null, name: null, sessions: null, ...wired(delivery ?? purged) }];
  }
}

/** An event that nobody has sent for 30 days. */
const purged = { status: 'failed', attempts: null, answeredAt: null, answer: 'purged', nextAttemptAt: null } as const;

interface State {
  readonly status: Receiver['status'];
  readonly attempts: number | null;
  readonly answeredAt: Date | null;
  readonly answer: string | null;
  readonly nextAttemptAt: Date | null;
}

const wired = ({ status, attempts, answeredAt, answer, nextAttemptAt }: State) => ({
  ...{ status, attempts, answer },
  answered_at: answeredAt?.toISOString() ?? null,
  next_attempt_at: nextAttemptAt?.toISOString() ?? null,
});
