import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApplicationEndsModule } from '../applications/application-ends.module';
import { AuditModule } from '../audit/audit.module';
import { CaptchaModule } from '../captcha/captcha.module';
import { IdentityProvidersModule } from '../identity-providers/identity-providers.module';
import { MailModule } from '../mail/mail.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { AddressShortening } from './address-shortening';
import { ShortenedAddresses } from './persistence/shortened-addresses.entity';
import { ShortenedMarks } from './persistence/shortened-addresses.repository';
import { Retention } from './retention';

/** With the modules that settle traces of deleted users: each of them registers with UserTraces. */
@Module({
  imports: [
    TypeOrmModule.forFeature([ShortenedAddresses]),
    AuditModule,
    UsersModule,
    CaptchaModule,
    MailModule,
    SessionsModule,
    ApplicationEndsModule,
    IdentityProvidersModule,
  ],
  providers: [Retention, AddressShortening, ShortenedMarks],
  exports: [Retention, AddressShortening],
})
export class RetentionModule {}
