import { Column, Entity, PrimaryColumn } from 'typeorm';

export type MfaType = 'email' | 'totp';
export type Provider = 'password' | 'ldap';

/** `status` of §2.1; what the values other than 1 mean is settled in decisions.md 2. */
export const userStatus = { enabled: 1, notEnabled: 0, disabled: -1, expired: -2 } as const;

/** A row of `users` (§2.1); changed only by the guarded writes of UsersRepository. */
@Entity('users')
export class User {
  @PrimaryColumn('varchar', { length: 36 })
  uid: string;

  /** As the operator or the directory spells it; looked up by `login_name_key` (see identityKey). */
  @Column('varchar', { name: 'login_name', length: 255 })
  loginName: string;

  @Column('varchar', { name: 'login_name_key', length: 255 })
  loginNameKey: string;

  /** Mail goes to this spelling only, never to one that was submitted (W38). */
  @Column('varchar', { length: 255, nullable: true })
  email: string | null;

  @Column('varchar', { name: 'email_key', length: 255, nullable: true })
  emailKey: string | null;

  @Column('varchar', { length: 255, nullable: true })
  nickname: string | null;

  /** bcrypt; null for a directory user and for one who has not set a password yet. */
  @Column('varchar', { length: 72, nullable: true })
  password: string | null;

  /** The bcrypt salt of `password`, its first 29 characters; new at each change. */
  @Column('varchar', { length: 32, nullable: true })
  salt: string | null;

  @Column('integer')
  status: number;

  @Column('integer', { name: 'login_failed_count' })
  loginFailedCount: number;

  @Column('datetime', { name: 'last_login_failed_time', nullable: true })
  lastLoginFailedTime: Date | null;

  @Column('datetime', { name: 'last_login_success_time', nullable: true })
  lastLoginSuccessTime: Date | null;

  @Column('varchar', { name: 'mfa_type', length: 16 })
  mfaType: MfaType;

  /** Sealed. The specification spells the column `topt_secret`; only here is it spelt so. */
  @Column('text', { name: 'topt_secret', nullable: true })
  totpSecret: string | null;

  /** Wrong codes over all logins and resends; with `mfa_blocked_until` the account's budget (decisions.md 3). */
  @Column('integer', { name: 'mfa_failed_count' })
  mfaFailedCount: number;

  @Column('datetime', { name: 'mfa_blocked_until', nullable: true })
  mfaBlockedUntil: Date | null;

  @Column('varchar', { length: 16 })
  provider: Provider;

  @Column('boolean', { name: 'is_admin' })
  isAdmin: boolean;

  /** A temporary password: the next login answers `change_password` with a type 0 request. */
  @Column('boolean', { name: 'must_change_password' })
  mustChangePassword: boolean;

  /**
   * Counts what ends everything issued before it: a password change, a disabling, revoke-tokens. Tokens, pending logins
   * and change requests carry the number they were issued under and are dead once it has moved (ADR 0005).
   */
  @Column('integer', { name: 'credential_version' })
  credentialVersion: number;

  @Column('varchar', { name: 'tenant_id', length: 64 })
  tenantId: string;

  @Column('varchar', { name: 'org_unit_id', length: 64, nullable: true })
  orgUnitId: string | null;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;

  /** The newest entry of `user_change_pwd_logs`, null without one. No column: UsersRepository reads it with the row. */
  passwordSetAt: Date | null = null;
}
