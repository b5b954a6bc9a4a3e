import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `passkey_challenges`: a challenge that was used. Its primary key refuses a second use. */
@Entity('passkey_challenges')
export class PasskeyChallenge {
  /** SHA-256 of the challenge. */
  @PrimaryColumn('varchar', { name: 'challenge_hash', length: 64 })
  challengeHash: string;

  @Column('datetime')
  expires: Date;
}
