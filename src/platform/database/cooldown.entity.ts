import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * `otp`: sending codes. `reset`: /forget-password, and the lock under which all writes to the change requests of a user
 * run one after the other. `ldap`: guesses at a directory user who has no row yet. `tokens`: new refresh tokens that version
 * 1.0.0 refuses, after an upgrade from it. `idp-logout`: a logout token of an identity provider is used once.
 * `ids`: the lock under which chosen ids of users, and ids of clients, are given.
 */
export type CooldownKind = 'otp' | 'reset' | 'ldap' | 'tokens' | 'idp-logout' | 'ids';

/** A row of `cooldowns`, the gate row of one action of one subject. */
@Entity('cooldowns')
export class Cooldown {
  /** A user's uid, a keyed hash of a name without a user, or the hash of a logout token. */
  @PrimaryColumn('varchar', { length: 64 })
  subject: string;

  @PrimaryColumn('varchar', { length: 16 })
  kind: CooldownKind;

  @Column('datetime')
  until: Date;

  /** Grows with each transaction that locks the row, because the nodes of a cluster compare changed rows (ADR 0029). */
  @Column('integer')
  held: number;
}
