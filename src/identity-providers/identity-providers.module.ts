import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module';
import { GroupsModule } from '../groups/groups.module';
import { MailModule } from '../mail/mail.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { Configurations } from './connection/configurations';
import { LogoutTokens } from './connection/logout-tokens';
import { OpenIdClientConnection } from './connection/openid-client-connection';
import { ProviderRequestCounts } from './provider-request-counts';
import { ProviderFetch } from './connection/provider-fetch';
import { ProviderLimits, providerLimits } from './connection/provider-limits';
import { ExternalAttributes } from './external-attributes';
import { ExternalGroups } from './external-groups';
import { ExternalIdentities } from './external-identities.repository';
import { ExternalOrigins } from './external-origins';
import { ExternalRequests } from './external-requests';
import { ExternalSessionEnds } from './external-session-ends';
import { ExternalSessions } from './external-sessions.repository';
import { ExternalSignIns } from './external-sign-ins.repository';
import { ExternalSignInCounts } from './external-sign-in-counts';
import { BackchannelLogoutController } from './http/backchannel-logout.controller';
import { IdentityProvider } from './identity-provider.entity';
import { HomeRealms } from './home-realm';
import { IdentityProviderChanges } from './identity-provider-changes';
import { IdentityProviderTraces } from './identity-provider-traces';
import { IdentityProviders } from './identity-providers.repository';
import { ExternalIdentity } from './persistence/external-identity.entity';
import { ExternalSession } from './persistence/external-session.entity';
import { ExternalSignIn } from './persistence/external-sign-in.entity';
import { OfferedProviders } from './offered-providers';
import { ProviderAddresses } from './provider-addresses';
import { BackchannelLogout } from './logout/backchannel-logout.service';
import { ProviderConnection } from './provider-connection';
import { ProviderSecrets } from './provider-secrets';

const rows = [IdentityProviders, IdentityProviderChanges, ExternalIdentities, ExternalSessions, ExternalSignIns];
const shared = [ProviderSecrets, ProviderAddresses, OfferedProviders, HomeRealms, IdentityProviderTraces];
const doors = [ExternalAttributes, ExternalRequests, ExternalOrigins, ExternalGroups, ExternalSignInCounts];

/**
 * The identity providers of companies (docs/spec/extensions.md#k, ADR 0036). The module itself is small. The package that
 * speaks the protocol is loaded by the first request to a provider.
 */
@Module({
  imports: [
    AuditModule,
    GroupsModule,
    MailModule,
    SessionsModule,
    UsersModule,
    TypeOrmModule.forFeature([IdentityProvider, ExternalIdentity, ExternalSession, ExternalSignIn]),
  ],
  controllers: [BackchannelLogoutController],
  providers: [
    ...rows,
    ...shared,
    ...doors,
    ...[ExternalSessionEnds, BackchannelLogout],
    { provide: ProviderLimits, useValue: providerLimits },
    ...[ProviderRequestCounts, ProviderFetch, Configurations, LogoutTokens],
    { provide: ProviderConnection, useClass: OpenIdClientConnection },
  ],
  exports: [ProviderRequestCounts, ...rows, ...shared, ...doors, ProviderConnection],
})
export class IdentityProvidersModule {}
