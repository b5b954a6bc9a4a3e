import { Logger, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BcryptPasswordHasher } from '../hashing/bcrypt-password-hasher';
import { PasswordHasher } from '../hashing/password-hasher';
import { PrivacySettings } from './account-settings';
import { HashingSettings } from './hashing-settings';
import { Tracing } from '../platform/tracing/tracing';
import { AccountStatus } from './account-status';
import { AdoptedUsers } from './adopted-users';
import { ExpiringPasswords } from './expiring-passwords';
import { DirectoryAccounts } from './directory-accounts';
import { LoginLock } from './login-lock';
import { Memberships } from './membership.repository';
import { NicknameKeys } from './nickname-keys';
import { OrgUnitRepository } from './org-unit.repository';
import { OwnFactors } from './own-factors';
import { ProvisionedUsers } from './provisioned-users';
import { ProvisioningCounts } from './provisioning-counts';
import { PasswordHistory } from './password-change-log.repository';
import { OrgUnitMembership, TenantMembership } from './persistence/membership.entity';
import { OrgUnit } from './persistence/org-unit.entity';
import { PasswordChangeLog } from './persistence/password-change-log.entity';
import { Tenant } from './persistence/tenant.entity';
import { ProviderMoves } from './provider-moves';
import { SecondFactor } from './second-factor';
import { SubjectIds } from './subject-ids';
import { TenantRepository } from './tenant.repository';
import { UserAccounts } from './user-accounts';
import { UserCounts } from './user-counts';
import { User } from './user.entity';
import { FactorAdoption } from './factor-adoption';
import { UserListing } from './user-listing';
import { UserSelection } from './user-selection';
import { UserTombstones } from './user-tombstones';
import { UserLocks } from './user-locks';
import { UsersOfProviders } from './users-of-providers';
import { UserWords } from './user-words.repository';
import { UserTotals } from './user-totals';
import { UserWord } from './persistence/user-word.entity';
import { UsersRepository } from './users.repository';

const services = [
  UsersRepository,
  UserLocks,
  SubjectIds,
  UserAccounts,
  AdoptedUsers,
  FactorAdoption,
  UserWords,
  UserListing,
  UserTotals,
  UserSelection,
  ProvisionedUsers,
  ProvisioningCounts,
  UserCounts,
  UsersOfProviders,
  UserTombstones,
  NicknameKeys,
  DirectoryAccounts,
  ProviderMoves,
  LoginLock,
  SecondFactor,
  OwnFactors,
  AccountStatus,
  TenantRepository,
  OrgUnitRepository,
  Memberships,
  PasswordHistory,
  ExpiringPasswords,
];

@Module({
  imports: [
    TypeOrmModule.forFeature([User, PasswordChangeLog, Tenant, OrgUnit, TenantMembership, OrgUnitMembership, UserWord]),
  ],
  providers: [
    ...services,
    {
      provide: PasswordHasher,
      inject: [HashingSettings, PrivacySettings, { token: Tracing, optional: true }],
      useFactory: (hashingSettings: HashingSettings, privacy: PrivacySettings, tracing: Tracing | undefined) => {
        const logger = new Logger('hashing');
        const { threads: concurrency, ...hashing } = hashingSettings;
        return new BcryptPasswordHasher({
          ...hashing,
          concurrency,
          levelled: privacy.hideAccountExistence,
          now: () => performance.now(),
          report: (problem) => logger.warn(problem),
          span: tracing && ((name, work) => tracing.span(name, { kind: 'internal' }, work)),
        });
      },
    },
  ],
  exports: [...services, PasswordHasher],
})
export class UsersModule {}
