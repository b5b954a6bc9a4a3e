import { Column, Entity, PrimaryColumn } from 'typeorm';

export type MfaType = 'email' | 'totp';
/** Where the password is checked: here, by the directory, or by an identity provider (no password is typed here). */
export type Provider = 'password' | 'ldap' | 'oidc';

/** What a user who is no administrator may do in the administration (docs/spec/extensions.md#roles). */
export const roles = ['help_desk', 'auditor'] as const;
export type Role = (typeof roles)[number];

/** The values of `users.status` (docs/spec/decisions.md#2). */
export const userStatus = { enabled: 1, notEnabled: 0, disabled: -1, expired: -2 } as const;

/** A row of `users` (docs/spec/service.md#2.1). Only guarded writes change it, never `save()`. */
@Entity('users')
export class User {
  @PrimaryColumn('varchar', { length: 36 })
  uid: string;

  /** The spelling of the operator or of the directory. Look-ups use `login_name_key` (see identityKey). */
  @Column('varchar', { name: 'login_name', length: 255 })
  loginName: string;

  @Column('varchar', { name: 'login_name_key', length: 255 })
  loginNameKey: string;

  /** Mail is sent to this spelling only, never to a submitted one (docs/spec/attacks.md#w38). */
  @Column('varchar', { length: 255, nullable: true })
  email: string | null;

  @Column('varchar', { name: 'email_key', length: 255, nullable: true })
  emailKey: string | null;

  /**
   * The `email_key` of which a mailed code or link was used. Another address is another key, so whatever changes the address
   * need not write this.
   */
  @Column('varchar', { name: 'proven_email_key', length: 255, nullable: true })
  provenEmailKey: string | null;

  @Column('varchar', { length: 255, nullable: true })
  nickname: string | null;

  /**
   * A bcrypt hash, or until the first login the hash of another system (ADR 0030). Null for a directory user, and for a
   * user who has not set a password yet. MySQL limits it to 255 characters, SQLite does not.
   */
  @Column('varchar', { nullable: true })
  password: string | null;

  /** The salt of a bcrypt hash (see saltOf), otherwise null. Each change of the password makes a new salt. */
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

  /** Sealed. The misspelt column name `topt_secret` is that of the specification. */
  @Column('text', { name: 'topt_secret', nullable: true })
  totpSecret: string | null;

  /** Wrong codes over all logins and resends. This count and `mfa_blocked_until` are the code budget of the account. */
  @Column('integer', { name: 'mfa_failed_count' })
  mfaFailedCount: number;

  @Column('datetime', { name: 'mfa_blocked_until', nullable: true })
  mfaBlockedUntil: Date | null;

  @Column('varchar', { length: 16 })
  provider: Provider;

  @Column('boolean', { name: 'is_admin' })
  isAdmin: boolean;

  /** Null for most users, and for every administrator. */
  @Column('varchar', { length: 16, nullable: true })
  role: Role | null;

  /** The password is temporary: the next login answers `change_password` with a request of type 0. */
  @Column('boolean', { name: 'must_change_password' })
  mustChangePassword: boolean;

  /**
   * Increased by a password change, a disabling and `revoke-tokens`. Tokens, pending logins and change requests store
   * the version that they were issued under, and are invalid as soon as the user's version differs (ADR 0005).
   */
  @Column('integer', { name: 'credential_version' })
  credentialVersion: number;

  @Column('varchar', { name: 'tenant_id', length: 64 })
  tenantId: string;

  @Column('varchar', { name: 'org_unit_id', length: 64, nullable: true })
  orgUnitId: string | null;

  /**
   * The stable id of the entry of a directory user. Null until the first login. It never changes: an entry that was
   * deleted and made again is another person.
   */
  @Column('varchar', { name: 'directory_id', length: 36, nullable: true })
  directoryId: string | null;

  /** When a refresh last found the directory user in order. A login is such a look too, and does not write this. */
  @Column('datetime', { name: 'directory_seen_at', nullable: true })
  directorySeenAt: Date | null;

  /** Until then, one refresh asks the directory, and others do not. */
  @Column('datetime', { name: 'directory_look_until', nullable: true })
  directoryLookUntil: Date | null;

  /** The identity provider of a user with `provider: "oidc"`; null for others. */
  @Column('varchar', { name: 'identity_provider_id', length: 40, nullable: true })
  identityProviderId: string | null;

  /** The name that another system has for the user: SCIM's `externalId`, and what `match_claim` of a provider is compared with. */
  @Column('varchar', { name: 'external_id', length: 255, nullable: true })
  externalId: string | null;

  /**
   * The password could not be brought along: while there is none here, the old system checks it (`LEGACY_VERIFY_URL`). Each
   * write of a password sets it to false. A replica of an earlier version does not, so look at `password` as well.
   */
  @Column('boolean', { name: 'legacy_login', default: false })
  legacyLogin: boolean;

  /** True since the user first made recovery codes or a passkey. Only the check of a token reads it (`own-factors.ts`). */
  @Column('boolean', { name: 'own_factors', default: false, select: false })
  ownFactors?: boolean;

  /** True since the user was first made a member of a group. Only the check of a token reads it. */
  @Column('boolean', { name: 'in_groups', default: false, select: false })
  inGroups?: boolean;

  /**
   * The language of mails that somebody else causes: that of the last sign-in, or the one that an administrator has set
   * since. Null when it is unknown. Always a tag of `languages`, unless a language was removed from the program.
   */
  @Column('varchar', { length: 35, nullable: true })
  language: string | null;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;

  /** When an administrator last enabled the account. From then on it counts as used: it is not dormant. */
  @Column('datetime', { name: 'enabled_at', nullable: true })
  enabledAt: Date | null;

  /** When the account was deleted. The row is a tombstone then: it identifies nobody, and nobody can use it. */
  @Column('datetime', { name: 'deleted_at', nullable: true })
  deletedAt: Date | null;

  /** Set for a deleted user until `purge` has looked for rows that were written after the deletion. */
  @Column('datetime', { name: 'erasing_since', nullable: true, select: false })
  erasingSince?: Date | null;

  /** Increased to lock the row until the end of a transaction, also for the other nodes of a cluster (ADR 0029). */
  @Column('integer', { default: 0, select: false })
  held?: number;

  /**
   * `LOWER(nickname)` of the database, for the search. Each write of the nickname writes it too. A replica of version 1.0.0
   * does not, so `purge` repairs it (see NicknameKeys).
   */
  @Column('varchar', { name: 'nickname_key', length: 255, nullable: true, select: false })
  nicknameKey?: string | null;

  /**
   * The time of the newest entry in `user_change_pwd_logs`, or null. Not a column: UsersRepository reads it with a
   * subquery.
   */
  passwordSetAt: Date | null = null;
}

/** The change of a row whose user has just used a mailed code or link. */
export const addressProven = { provenEmailKey: () => 'email_key' } as const;
