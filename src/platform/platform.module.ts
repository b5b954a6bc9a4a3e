import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Clock, SystemClock } from '../shared/clock';
import { Random, SystemRandom } from '../shared/random';
import { AppConfig } from './config/app-config';
import { KeyRing } from './crypto/key-ring';
import { Cooldown } from './database/cooldown.entity';
import { Cooldowns } from './database/cooldowns';
import { DatabaseModule } from './database/database.module';
import { SystemConfig } from './settings/system-config.entity';
import { SystemConfigs } from './settings/system-config.repository';
import { SystemSettings } from './settings/system-settings';

/** Provides to all modules: clock, randomness, keys, database, settings of the root tenant. */
@Global()
@Module({
  imports: [DatabaseModule, TypeOrmModule.forFeature([Cooldown, SystemConfig])],
  providers: [
    { provide: Clock, useClass: SystemClock },
    { provide: Random, useClass: SystemRandom },
    {
      provide: KeyRing,
      inject: [AppConfig, Random],
      useFactory: (config: AppConfig, random: Random) => new KeyRing(config, random),
    },
    Cooldowns,
    SystemConfigs,
    SystemSettings,
  ],
  exports: [Clock, Random, KeyRing, Cooldowns, SystemConfigs, SystemSettings, DatabaseModule],
})
export class PlatformModule {}
