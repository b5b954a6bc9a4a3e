import { type DynamicModule, Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { Operator } from '../audit/operator';
import { CaptchaModule } from '../captcha/captcha.module';
import { MailModule } from '../mail/mail.module';
import { PasswordResetModule } from '../password-reset/password-reset.module';
import type { AppConfig } from '../platform/config/app-config';
import { ConfigModule } from '../platform/config/config.module';
import { TotpReset } from '../mfa/totp-reset';
import { PlatformModule } from '../platform/platform.module';
import { RetentionModule } from '../retention/retention.module';
import { TokensModule } from '../tokens/tokens.module';
import { UsersModule } from '../users/users.module';
import { UserAdministration } from './user-administration';
import { UserImport } from './user-import';

/** The application as the command line needs it. */
@Module({})
export class CliModule {
  /** @param operator absent for a command that only looks */
  static with(config: AppConfig, operator?: Operator): DynamicModule {
    const operators = operator ? [{ provide: Operator, useValue: operator }] : [];
    return {
      module: CliModule,
      // The operator is one for all modules: whoever writes to the audit writes in the operator's name.
      global: true,
      imports: [
        ConfigModule.with(config),
        PlatformModule,
        UsersModule,
        AuditModule,
        TokensModule,
        CaptchaModule,
        MailModule,
        PasswordResetModule,
        RetentionModule,
      ],
      providers: [...operators, UserAdministration, UserImport, TotpReset],
      exports: [...operators],
    };
  }
}
