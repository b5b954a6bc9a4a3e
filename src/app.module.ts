import { type DynamicModule, Module } from '@nestjs/common';
import { AccountModule } from './account/account.module';
import { AdminApplicationsModule } from './admin/admin-applications.module';
import { AdminEventReceiversModule } from './admin/admin-event-receivers.module';
import { AdminModule } from './admin/admin.module';
import { ApplicationEndsModule } from './applications/application-ends.module';
import { OpenIdModule } from './applications/openid.module';
import { AuthModule } from './auth/auth.module';
import { IntrospectionModule } from './introspection/introspection.module';
import { EventsModule } from './events/events.module';
import { GroupsModule } from './groups/groups.module';
import { HealthModule } from './health/health.module';
import { MetricsModule } from './metrics/metrics.module';
import type { AppConfig } from './settings/app-config';
import { ConfigModule } from './settings/config.module';
import { LimitsModule } from './platform/limits/limits.module';
import { LogExportModule } from './platform/logging/log-export.module';
import { OffboardingModule } from './offboarding/offboarding.module';
import { PlatformModule } from './platform/platform.module';
import { PortalModule } from './portal/portal.module';
import { ScimModule } from './scim/scim.module';

/** The composition root: the list of the modules of the service. */
@Module({})
export class AppModule {
  static with(config: AppConfig): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.with(config),
        PlatformModule,
        LogExportModule,
        LimitsModule.with(config),
        EventsModule,
        GroupsModule,
        HealthModule,
        AuthModule,
        AccountModule,
        IntrospectionModule,
        ...(config.openId ? [ApplicationEndsModule] : []),
        OffboardingModule,
        ...(config.admin.api ? [AdminModule] : []),
        ...(config.openId === undefined ? [] : [OpenIdModule.with(config.openId)]),
        ...(config.admin.api && config.openId !== undefined ? [AdminApplicationsModule] : []),
        ...(config.admin.api && config.eventReceivers.on ? [AdminEventReceiversModule] : []),
        ...(config.scim === undefined ? [] : [ScimModule]),
        MetricsModule,
        PortalModule,
      ],
    };
  }
}
