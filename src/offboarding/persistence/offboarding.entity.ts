import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Where an off-boarding began. */
export const offboardingOrigins = ['api', 'console', 'cli', 'scim'] as const;
export type OffboardingOrigin = (typeof offboardingOrigins)[number];

/** Values of `offboardings.status`: whether a receiver still has to be told. */
export const offboardingStatus = { open: 0, complete: 1 } as const;

/** What ended, how many of it, and when. */
export interface EndedStep {
  readonly step: string;
  readonly ended: number;
  readonly at: string;
}

/** A row of `offboardings`: somebody left, what ended, and who was told (ADR 0039). */
@Entity('offboardings')
export class OffboardingRow {
  @PrimaryColumn('varchar', { length: 36 })
  id: string;

  @Column('varchar', { name: 'user_id', length: 36 })
  userId: string;

  @Column('varchar', { length: 16 })
  via: OffboardingOrigin;

  /** The uid of the administrator, the id of the SCIM client, or the name of the operator. */
  @Column('varchar', { name: 'began_by', length: 255, nullable: true })
  beganBy: string | null;

  @Column('datetime', { name: 'began_at' })
  beganAt: Date;

  /** JSON: `EndedStep[]`. */
  @Column('text')
  steps: string;

  /** Whether there was a webhook receiver to tell. */
  @Column('boolean')
  webhook: boolean;

  @Column('integer')
  status: number;

  /** Increases while receivers do not answer, so that a receiver that is down costs little. */
  @Column('datetime', { name: 'next_check_at' })
  nextCheckAt: Date;

  @Column('datetime', { name: 'completed_at', nullable: true })
  completedAt: Date | null;

  /** JSON: `Receiver[]`, written together with `completed_at`. The rows that it was read from are purged earlier. */
  @Column('text', { nullable: true })
  receivers: string | null;

  /** When the account was enabled again. The record of the off-boarding stays. */
  @Column('datetime', { name: 'restored_at', nullable: true })
  restoredAt: Date | null;

  @Column('varchar', { name: 'restored_by', length: 255, nullable: true })
  restoredBy: string | null;
}
