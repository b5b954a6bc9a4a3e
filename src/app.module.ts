import { type DynamicModule, Module } from '@nestjs/common';
import { AccountModule } from './account/account.module';
import { AdminApplicationsModule } from './admin/admin-applications.module';
import { AdminModule } from './admin/admin.module';
import { OpenIdModule } from './applications/openid.module';
import { AuthModule } from './auth/auth.module';
import { IntrospectionModule } from './introspection/introspection.module';
import { EventsModule } from './events/events.module';
import { HealthModule } from './health/health.module';
import { MetricsModule } from './metrics/metrics.module';
import type { AppConfig } from './settings/app-config';
import { ConfigModule } from './settings/config.module';
import { LimitsModule } from './platform/limits/limits.module';
import { PlatformModule } from './platform/platform.module';
import { PortalModule } from './portal/portal.module';

/** The composition root: the list of the modules of the service. */
@Module({})
export class AppModule {
  static with(config: AppConfig): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.with(config),
        PlatformModule,
        LimitsModule.with(config),
        EventsModule,
        HealthModule,
        AuthModule,
        AccountModule,
        IntrospectionModule,
        ...(config.admin.api ? [AdminModule] : []),
        ...(config.openId === undefined ? [] : [OpenIdModule.with(config.openId)]),
        ...(config.admin.api && config.openId !== undefined ? [AdminApplicationsModule] : []),
        MetricsModule,
        PortalModule,
      ],
    };
  }
}
