import { Module } from '@nestjs/common';
import { LegacySystem } from './legacy-system';

/** The client of the system that the users come from (docs/spec/extensions.md#legacy-login). Nothing else asks it. */
@Module({ providers: [LegacySystem], exports: [LegacySystem] })
export class LegacyModule {}
