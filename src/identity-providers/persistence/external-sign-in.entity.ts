import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `external_sign_ins`: one sign-in of one browser, from the request to the redeemed code. */
@Entity('external_sign_ins')
export class ExternalSignIn {
  /** HMACs: no state, code or cookie can be read from a copy of the table. */
  @PrimaryColumn('varchar', { name: 'state_hash', length: 64 })
  stateHash: string;

  @Column('varchar', { name: 'browser_hash', length: 64 })
  browserHash: string;

  @Column('varchar', { name: 'identity_provider_id', length: 40 })
  identityProviderId: string;

  /** Sealed: the nonce, the verifier of PKCE, and where the browser goes afterwards. */
  @Column('text')
  payload: string;

  /** When the callback took the state. */
  @Column('datetime', { name: 'answered_at', nullable: true })
  answeredAt: Date | null;

  @Column('varchar', { name: 'code_hash', length: 64, nullable: true })
  codeHash: string | null;

  @Column('varchar', { name: 'user_id', length: 36, nullable: true })
  userId: string | null;

  /** Sealed: what the provider said of this sign-in. */
  @Column('text', { nullable: true })
  result: string | null;

  /** When the code was redeemed. */
  @Column('datetime', { name: 'spent_at', nullable: true })
  spentAt: Date | null;

  /** The pending login that waits for the second factor of this service. */
  @Column('varchar', { name: 'pending_id', length: 36, nullable: true })
  pendingId: string | null;

  @Column('datetime')
  expires: Date;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;
}
