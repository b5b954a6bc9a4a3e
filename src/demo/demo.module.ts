import { type DynamicModule, Module } from '@nestjs/common';
import { AppModule } from '../app.module';
import { AuditModule } from '../audit/audit.module';
import { UserAdministration } from '../cli/user-administration';
import { PasswordResetModule } from '../password-reset/password-reset.module';
import type { AppConfig } from '../platform/config/app-config';
import { TokensModule } from '../tokens/tokens.module';
import { UsersModule } from '../users/users.module';
import { DemoOutbox } from './demo-outbox';
import { DemoOutboxController } from './demo-outbox.controller';
import { DemoSeed } from './demo-seed';
import { OwnNames } from './own-names';
import { PortalPages } from './portal-pages';

/** The whole service with demo accounts, the outbox and the web pages. */
@Module({})
export class DemoModule {
  static with(config: AppConfig): DynamicModule {
    return {
      module: DemoModule,
      imports: [AppModule.with(config), UsersModule, AuditModule, TokensModule, PasswordResetModule],
      controllers: [DemoOutboxController],
      providers: [UserAdministration, DemoSeed, DemoOutbox, OwnNames, PortalPages],
    };
  }
}
