import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A row of `audit_logs` (docs/spec/decisions.md#audit). It never contains a token, a code, a password or a link. */
@Entity('audit_logs')
export class AuditLog {
  @PrimaryGeneratedColumn()
  id: number;

  @Column('varchar', { length: 64 })
  event: string;

  @Column('varchar', { name: 'user_id', length: 36, nullable: true })
  userId: string | null;

  @Column('varchar', { length: 45, nullable: true })
  ip: string | null;

  @Column('varchar', { name: 'user_agent', length: 512, nullable: true })
  userAgent: string | null;

  @Column('varchar', { name: 'request_id', length: 64, nullable: true })
  requestId: string | null;

  @Column('text')
  detail: string;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;

  /** The operator who ran the command. Null when the owner of the account or the service itself acted. */
  @Column('varchar', { name: 'actor_id', length: 255, nullable: true })
  actorId: string | null;
}
