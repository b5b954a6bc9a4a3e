import { type DynamicModule, Module } from '@nestjs/common';
import { ApplicationAdministrationModule } from '../admin/application-administration.module';
import { AdministrationModule } from '../admin/administration.module';
import { AppModule } from '../app.module';
import { PasswordPolicySource } from '../password-reset/password-policy-source';
import { PasswordResetModule } from '../password-reset/password-reset.module';
import { HttpSettings } from '../platform/config/http-settings';
import { ServiceSettings } from '../platform/config/service-settings';
import type { AppConfig } from '../settings/app-config';
import { PageSettings } from '../portal/portal-pages';
import { PortalModule } from '../portal/portal.module';
import { UsersModule } from '../users/users.module';
import { DemoApplication } from './demo-application';
import { DemoOutboxController, outboxPath } from './demo-outbox.controller';
import { DemoSeed } from './demo-seed';
import { OwnNames } from './own-names';

/** The whole service with demo accounts, the outbox and the web pages. */
@Module({})
export class DemoModule {
  constructor(pages: PageSettings, policies: PasswordPolicySource, service: ServiceSettings, http: HttpSettings) {
    if (service.production) throw new Error('the demo is not for production: start dist/src/main.js');
    policies.relaxDefaults();
    pages.values.set('outbox', `${http.apiPrefix}/${outboxPath}`);
  }

  static with(config: AppConfig): DynamicModule {
    return {
      module: DemoModule,
      imports: [
        AppModule.with(config),
        AdministrationModule,
        ApplicationAdministrationModule,
        UsersModule,
        PasswordResetModule,
        PortalModule,
      ],
      controllers: [DemoOutboxController],
      providers: [DemoApplication, DemoSeed, OwnNames],
    };
  }
}
