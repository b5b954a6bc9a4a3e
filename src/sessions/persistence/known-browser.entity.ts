import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `known_browsers`: one for each account and browser. */
@Entity('known_browsers')
export class KnownBrowser {
  @PrimaryColumn('varchar', { name: 'user_id', length: 36 })
  userId: string;

  @PrimaryColumn('varchar', { length: 64 })
  browser: string;

  @Column('datetime', { name: 'seen_at' })
  seenAt: Date;
}
