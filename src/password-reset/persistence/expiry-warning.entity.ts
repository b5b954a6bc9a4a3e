import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `password_expiry_warnings`: the last warning of an account. */
@Entity('password_expiry_warnings')
export class ExpiryWarning {
  @PrimaryColumn('varchar', { name: 'user_id', length: 36 })
  userId: string;

  /** The row of `user_change_pwd_logs`. 0 for a password without one. */
  @Column('bigint', { name: 'password_id', transformer: { from: Number, to: (value: number) => value } })
  passwordId: number;

  /** The smallest number of days that was announced for this password. */
  @Column('integer')
  days: number;

  @Column('datetime', { name: 'warned_at' })
  warnedAt: Date;
}
