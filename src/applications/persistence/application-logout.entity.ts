import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * Values of `application_logouts.status`. `not_offered`: the application has no `backchannel_logout_uri`, so it cannot be
 * told. Nobody tries.
 */
export const logoutStatus = { waiting: 0, told: 1, failed: 2, not_offered: 3 } as const;
export type LogoutStatusName = keyof typeof logoutStatus;

/** A row of `application_logouts`: an application that is told of the end of a session, and what it answered. */
@Entity('application_logouts')
export class ApplicationLogout {
  /** The `logout_id` of the session at this application, and the `jti` of the logout token. */
  @PrimaryColumn('varchar', { length: 36 })
  id: string;

  @Column('varchar', { name: 'application_id', length: 36 })
  applicationId: string;

  @Column('varchar', { name: 'user_id', length: 36 })
  userId: string;

  @Column('varchar', { length: 36 })
  sid: string;

  @Column('integer')
  status: number;

  @Column('integer')
  attempts: number;

  @Column('datetime', { name: 'next_attempt_at' })
  nextAttemptAt: Date;

  @Column('varchar', { name: 'claimed_by', length: 36, nullable: true })
  claimedBy: string | null;

  @Column('datetime', { name: 'claimed_until', nullable: true })
  claimedUntil: Date | null;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;

  @Column('datetime', { name: 'settled_at', nullable: true })
  settledAt: Date | null;

  @Column('varchar', { length: 64, nullable: true })
  answer: string | null;
}
