import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Clock, SystemClock } from '../shared/clock';
import { Random, SystemRandom } from '../shared/random';
import { KeySettings } from './config/key-settings';
import { KeyRing } from './crypto/key-ring';
import { Cooldown } from './database/cooldown.entity';
import { Cooldowns } from './database/cooldown.repository';
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
      inject: [KeySettings, Random],
      useFactory: (settings: KeySettings, random: Random) => new KeyRing(settings, random),
    },
    Cooldowns,
    SystemConfigs,
    SystemSettings,
  ],
  exports: [Clock, Random, KeyRing, Cooldowns, SystemConfigs, SystemSettings, DatabaseModule],
})
export class PlatformModule {}
