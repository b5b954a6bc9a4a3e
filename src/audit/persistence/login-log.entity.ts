import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A row of `login_logs` (docs/spec/decisions.md#login-logs). */
@Entity('login_logs')
export class LoginLog {
  @PrimaryGeneratedColumn()
  id: number;

  @Column('varchar', { name: 'user_id', length: 36, nullable: true })
  userId: string | null;

  @Column('varchar', { name: 'login_name', length: 255 })
  loginName: string;

  @Column('varchar', { length: 16 })
  provider: string;

  @Column('varchar', { length: 45 })
  ip: string;

  @Column('varchar', { name: 'user_agent', length: 512 })
  userAgent: string;

  @Column('varchar', { length: 32 })
  outcome: string;

  @Column('varchar', { length: 16, nullable: true })
  mfa: string | null;

  @Column('varchar', { name: 'request_id', length: 64 })
  requestId: string;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;
}
