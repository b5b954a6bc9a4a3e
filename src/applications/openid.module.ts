import { type DynamicModule, Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { KeyRing } from '../platform/crypto/key-ring';
import { ServiceSettings } from '../platform/config/service-settings';
import { AddressLimit } from '../platform/limits/address-limit';
import { GroupMembers } from '../groups/group-members';
import { GroupsModule } from '../groups/groups.module';
import { DirectoryRecheck } from '../sessions/directory-recheck';
import { JwtSettings } from '../sessions/jwt-settings';
import { LiveSessions } from '../sessions/live-sessions';
import { SessionsModule } from '../sessions/sessions.module';
import { TokenRevoker } from '../sessions/token-revoker';
import { Clock } from '../shared/clock';
import { UsersModule } from '../users/users.module';
import { UsersRepository } from '../users/users.repository';
import { ApplicationEndsModule } from './application-ends.module';
import { ApplicationSessions } from './application-sessions.repository';
import { ApplicationsModule } from './applications.module';
import { Applications } from './applications.repository';
import { GrantsController } from './http/grants.controller';
import { InteractionsController } from './http/interactions.controller';
import { OwnApplicationsController } from './http/own-applications.controller';
import { Interactions } from './openid/interactions';
import { loadLibrary } from './openid/library';
import { OpenIdEndpoint, openIdProvider, openIdProviderSettings } from './openid/openid-endpoint';
import { OwnGrants } from './openid/own-grants';
import { makeProvider } from './openid/openid-provider';
import { RequestReads } from './openid/request-reads';
import { ReusedGrants } from './openid/reused-grants';
import { OpenIdCounts } from './openid-counts';
import type { OpenIdProviderSettings } from './openid-settings';
import { OidcRecords } from './persistence/oidc-record.repository';

/** The OpenID provider (docs/spec/extensions.md#j). The composition root loads it only with `OIDC=on`. */
@Module({})
export class OpenIdModule {
  static with(settings: OpenIdProviderSettings): DynamicModule {
    return {
      module: OpenIdModule,
      imports: [ApplicationsModule, ApplicationEndsModule, AuditModule, GroupsModule, SessionsModule, UsersModule],
      controllers: [InteractionsController, OwnApplicationsController, GrantsController],
      providers: [
        Interactions,
        OwnGrants,
        ReusedGrants,
        OpenIdEndpoint,
        AddressLimit,
        {
          provide: openIdProviderSettings,
          inject: [ServiceSettings],
          useFactory: ({ systemUrl }: ServiceSettings) => ({ ...settings, systemUrl }),
        },
        {
          provide: openIdProvider,
          inject: [
            ...[OidcRecords, LiveSessions, UsersRepository, ApplicationSessions, Applications],
            ...[TokenRevoker, Clock, KeyRing, JwtSettings, OpenIdCounts, DirectoryRecheck, GroupMembers],
            ...[ReusedGrants, ServiceSettings],
          ],
          useFactory: async (
            records: OidcRecords,
            sessions: LiveSessions,
            users: UsersRepository,
            applicationSessions: ApplicationSessions,
            applications: Applications,
            revoker: TokenRevoker,
            clock: Clock,
            keys: KeyRing,
            jwt: JwtSettings,
            counts: OpenIdCounts,
            recheck: DirectoryRecheck,
            members: GroupMembers,
            reusedGrants: ReusedGrants,
            { systemUrl }: ServiceSettings,
          ) => {
            const library = await loadLibrary();
            const reads = new RequestReads({ applications, records, sessions, users, library });
            return makeProvider({
              ...{ settings, systemUrl, records, reads, applicationSessions, clock, keys, jwt },
              ...{ counts, recheck, members, reusedGrants, library },
              endSession: (userId, sid, client) => revoker.endSession(userId, sid, client),
            });
          },
        },
      ],
    };
  }
}
