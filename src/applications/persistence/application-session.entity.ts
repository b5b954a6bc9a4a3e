import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `application_sessions`: this session of the service has signed in to this application. */
@Entity('application_sessions')
export class ApplicationSession {
  @PrimaryColumn('varchar', { length: 36 })
  sid: string;

  @PrimaryColumn('varchar', { name: 'application_id', length: 36 })
  applicationId: string;

  @Column('varchar', { name: 'user_id', length: 36 })
  userId: string;

  /** The id of the row that the end of the session writes into `application_logouts`, and the `jti` of its logout token. */
  @Column('varchar', { name: 'logout_id', length: 36 })
  logoutId: string;

  @Column('datetime', { name: 'began_at' })
  beganAt: Date;
}
