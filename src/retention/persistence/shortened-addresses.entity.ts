import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `shortened_addresses`: how far the addresses of a log are shortened. */
@Entity('shortened_addresses')
export class ShortenedAddresses {
  @PrimaryColumn('varchar', { length: 64 })
  log: string;

  /** The addresses of the rows before this time are shortened. */
  @Column('datetime', { name: 'shortened_until' })
  shortenedUntil: Date;
}
