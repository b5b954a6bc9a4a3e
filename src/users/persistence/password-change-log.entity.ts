import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A row of `user_change_pwd_logs` (docs/spec/service.md#2.6): every local password that was ever set. */
@Entity('user_change_pwd_logs')
export class PasswordChangeLog {
  @PrimaryGeneratedColumn()
  id: number;

  @Column('varchar', { name: 'user_id', length: 36 })
  userId: string;

  @Column('integer')
  type: number;

  /** As long as `users.password`. */
  @Column('varchar')
  password: string;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;

  /** The language of the browser in which the password was chosen. Null when an operator set it. */
  @Column('varchar', { length: 16, nullable: true })
  language: string | null;
}
