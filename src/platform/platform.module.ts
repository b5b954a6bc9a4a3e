import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Clock, SystemClock } from '../shared/clock';
import { Random, SystemRandom } from '../shared/random';
import { AppConfig } from './config/app-config';
import { KeyRing } from './crypto/key-ring';
import { Cooldowns } from './database/cooldowns';
import { DatabaseModule } from './database/database.module';
import { SystemConfig } from './settings/system-config.entity';
import { SystemSettings } from './settings/system-settings';

/** Provides to all modules: clock, randomness, keys, database, settings of the root tenant. */
@Global()
@Module({
  imports: [DatabaseModule, TypeOrmModule.forFeature([SystemConfig])],
  providers: [
    { provide: Clock, useClass: SystemClock },
    { provide: Random, useClass: SystemRandom },
    {
      provide: KeyRing,
      inject: [AppConfig, Random],
      useFactory: (config: AppConfig, random: Random) => new KeyRing(config, random),
    },
    Cooldowns,
    SystemSettings,
  ],
  exports: [Clock, Random, KeyRing, Cooldowns, SystemSettings, DatabaseModule],
})
export class PlatformModule {}
