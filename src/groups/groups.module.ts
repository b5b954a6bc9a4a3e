import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module';
import { UsersModule } from '../users/users.module';
import { FollowedGroups } from './followed-groups';
import { Group } from './group.entity';
import { GroupListing } from './group-listing';
import { GroupMembers } from './group-members';
import { GroupTraces } from './group-traces';
import { Groups } from './groups.repository';
import { ProvisionedGroups } from './provisioned-groups';
import { GroupMember } from './persistence/group-member.entity';

/** Groups of users and their members (docs/spec/extensions.md#l, ADR 0037). */
@Module({
  imports: [UsersModule, AuditModule, TypeOrmModule.forFeature([Group, GroupMember])],
  providers: [Groups, GroupListing, GroupMembers, FollowedGroups, ProvisionedGroups, GroupTraces],
  exports: [Groups, GroupListing, GroupMembers, FollowedGroups, ProvisionedGroups],
})
export class GroupsModule {}
