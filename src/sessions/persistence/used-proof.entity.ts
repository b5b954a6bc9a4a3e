import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `used_proofs`: a proof of possession that was used. Its primary key refuses a second use. */
@Entity('used_proofs')
export class UsedProof {
  /** 128 bits of SHA-256 over the key and the `jti`, in hexadecimal. */
  @PrimaryColumn('varchar', { length: 32 })
  id: string;

  /** A random number of the statement that inserted the row. It tells this statement which of its rows are its own. */
  @Column('bigint')
  claim: number;

  @Column('datetime')
  expires: Date;
}
