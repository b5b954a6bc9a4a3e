import { Module } from '@nestjs/common';
import { AdministrationModule } from '../admin/administration.module';
import { GroupsModule } from '../groups/groups.module';
import { IdentityProvidersModule } from '../identity-providers/identity-providers.module';
import { ServiceClientsModule } from '../introspection/introspection.module';
import { AddressLimit } from '../platform/limits/address-limit';
import { UsersModule } from '../users/users.module';
import { GroupResources } from './groups/group-resources';
import { ScimGroups } from './groups/scim-groups';
import { ScimEndpoint } from './http/scim-endpoint';
import { ScimRoutes } from './http/scim-routes';
import { ResourceUrls } from './protocol/resource-urls';
import { ScimSignInPlace } from './users/sign-in-place';
import { ScimUsers } from './users/scim-users';
import { UserResources } from './users/user-resources';

/** Users and groups by SCIM 2.0 (docs/spec/extensions.md#l, ADR 0038). The composition root loads it only with `SCIM=on`. */
@Module({
  imports: [AdministrationModule, GroupsModule, IdentityProvidersModule, ServiceClientsModule, UsersModule],
  providers: [
    ...[ScimEndpoint, ScimRoutes, ScimUsers, ScimSignInPlace, ScimGroups, UserResources, GroupResources, ResourceUrls],
    AddressLimit,
  ],
})
export class ScimModule {}
