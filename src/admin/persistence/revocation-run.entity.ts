import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `revocation_runs`: the newest run of `user revoke-tokens` with these conditions. */
@Entity('revocation_runs')
export class RevocationRun {
  @PrimaryColumn('varchar', { length: 255 })
  conditions: string;

  @Column('varchar', { name: 'run_id', length: 36 })
  runId: string;

  /** The last user of the last batch. Empty before the first one. */
  @Column('varchar', { name: 'after_uid', length: 36, default: '' })
  afterUid: string;

  /** The users of the whole run, with those before an interruption. */
  @Column('integer', { default: 0 })
  users: number;

  @Column('datetime', { name: 'started_at' })
  startedAt: Date;

  @Column('datetime', { name: 'finished_at', nullable: true })
  finishedAt: Date | null;
}
