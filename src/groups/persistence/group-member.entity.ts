import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `user_group_members`. A row whose group or user is gone, or is of another tenant, counts for nothing. */
@Entity('user_group_members')
export class GroupMember {
  @PrimaryColumn('varchar', { name: 'group_id', length: 36 })
  groupId: string;

  @PrimaryColumn('varchar', { name: 'user_id', length: 36 })
  userId: string;

  @Column('datetime', { name: 'added_at' })
  addedAt: Date;
}
