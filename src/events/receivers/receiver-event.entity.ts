import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

const bigint = {
  to: (value: number | null) => value,
  from: (value: unknown) => (value === null ? null : Number(value)),
};

/** A row of `receiver_events`: an event, once for all receivers (ADR 0047). */
@Entity('receiver_events')
export class ReceiverEvent {
  @PrimaryGeneratedColumn()
  id: number;

  @Column('varchar', { name: 'event_id', length: 36 })
  eventId: string;

  @Column('varchar', { length: 64 })
  type: string;

  @Column('varchar', { name: 'user_id', length: 36, nullable: true })
  userId: string | null;

  /**
   * The tenant of the user when the event happened. It is written with the place, or before by a move of the user to another
   * tenant. Null for an event about nobody.
   */
  @Column('varchar', { name: 'tenant_id', length: 64, nullable: true })
  tenantId: string | null;

  /** Null when the user was deleted. */
  @Column('text', { nullable: true })
  payload: string | null;

  /** The place in the order of the commits. Null until a process has given it. */
  @Column('bigint', { nullable: true, transformer: bigint })
  place: number | null;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;
}

/** The only row of `receiver_places`: the last place that was given to an event. */
@Entity('receiver_places')
export class ReceiverPlaces {
  @PrimaryColumn('integer')
  id: number;

  @Column('bigint', { transformer: { to: (value: number) => value, from: Number } })
  last: number;
}
