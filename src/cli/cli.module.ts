import { type DynamicModule, Module } from '@nestjs/common';
import { ApplicationAdministrationModule } from '../admin/application-administration.module';
import { AdministrationModule } from '../admin/administration.module';
import { AuditModule } from '../audit/audit.module';
import { Operator } from '../audit/actor';
import { CaptchaModule } from '../captcha/captcha.module';
import { ServiceClientsModule } from '../introspection/introspection.module';
import { EventsModule } from '../events/events.module';
import { GroupsModule } from '../groups/groups.module';
import { LegacyModule } from '../legacy/legacy.module';
import { MailModule } from '../mail/mail.module';
import { PasswordResetModule } from '../password-reset/password-reset.module';
import type { AppConfig } from '../settings/app-config';
import { ConfigModule } from '../settings/config.module';
import { MfaModule } from '../mfa/mfa.module';
import { PasskeysModule } from '../passkeys/passkeys.module';
import { PlatformModule } from '../platform/platform.module';
import { RetentionModule } from '../retention/retention.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { UserAdoption } from './adoption/user-adoption';

/** The modules that the command line needs. */
@Module({})
export class CliModule {
  /** @param operator undefined for a command that only reads */
  static with(config: AppConfig, operator?: Operator): DynamicModule {
    const operators = operator ? [{ provide: Operator, useValue: operator }] : [];
    return {
      module: CliModule,
      // Global, so that every module that writes to the audit names the same operator.
      global: true,
      imports: [
        ConfigModule.with(config),
        PlatformModule,
        EventsModule,
        AdministrationModule,
        ApplicationAdministrationModule,
        UsersModule,
        AuditModule,
        GroupsModule,
        SessionsModule,
        CaptchaModule,
        LegacyModule,
        MailModule,
        MfaModule,
        PasskeysModule,
        PasswordResetModule,
        RetentionModule,
        ServiceClientsModule,
      ],
      providers: [...operators, UserAdoption],
      exports: [...operators],
    };
  }
}
