import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `user_words`: a word by which a user is found (docs/adr/0041-search-by-any-word.md). */
@Entity('user_words')
export class UserWord {
  @PrimaryColumn('varchar', { name: 'user_id', length: 36 })
  userId: string;

  @PrimaryColumn('varchar', { length: 64 })
  word: string;

  /** The tenant of the user, so that the search of its administrators reads no word of another tenant. */
  @Column('varchar', { name: 'tenant_id', length: 64 })
  tenantId: string;
}
