import { Inject, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AppConfig } from '../platform/config/app-config';
import { AccountStatus } from './account-status';
import { BcryptPasswordHasher } from './hashing/bcrypt-password-hasher';
import { LoginLock } from './login-lock';
import { Memberships } from './memberships';
import { PasswordHasher } from './password-hasher';
import { PasswordHistory } from './password-history';
import { PasswordChangeLog } from './persistence/password-change-log.entity';
import { SecondFactor } from './second-factor';
import { UserAccounts } from './user-accounts';
import { User } from './user.entity';
import { UserListing } from './user-listing';
import { UsersRepository } from './users.repository';

@Module({
  imports: [TypeOrmModule.forFeature([User, PasswordChangeLog])],
  providers: [
    UsersRepository,
    UserAccounts,
    UserListing,
    LoginLock,
    SecondFactor,
    AccountStatus,
    Memberships,
    PasswordHistory,
    {
      provide: PasswordHasher,
      inject: [AppConfig],
      useFactory: (config: AppConfig) => {
        const logger = new Logger('hashing');
        return new BcryptPasswordHasher({
          ...config.hashing,
          now: () => performance.now(),
          report: (problem) => logger.warn(problem),
        });
      },
    },
  ],
  exports: [
    UsersRepository,
    UserAccounts,
    UserListing,
    LoginLock,
    SecondFactor,
    AccountStatus,
    Memberships,
    PasswordHistory,
    PasswordHasher,
  ],
})
export class UsersModule implements OnApplicationShutdown {
  constructor(@Inject(PasswordHasher) private readonly hasher: BcryptPasswordHasher) {}

  async onApplicationShutdown(): Promise<void> {
    await this.hasher.close();
  }
}
