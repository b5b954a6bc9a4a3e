import { Module } from '@nestjs/common';
import { DataKeyCheck } from './data-key-check';
import { HealthController } from './health.controller';
import { Lifecycle } from './lifecycle';

@Module({ controllers: [HealthController], providers: [Lifecycle, DataKeyCheck], exports: [Lifecycle] })
export class HealthModule {}
