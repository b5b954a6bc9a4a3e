import { type DynamicModule, Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
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
  static with(config: AppConfig): DynamicModule {
    return {
      module: CliModule,
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
      providers: [UserAdministration, UserImport, TotpReset],
    };
  }
}
