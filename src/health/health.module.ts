import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { DataKeyCheck } from './data-key-check';
import { DiskCheck } from './disk-check';
import { HealthController } from './health.controller';
import { Lifecycle } from './lifecycle';

@Module({
  imports: [AuditModule],
  controllers: [HealthController],
  providers: [Lifecycle, DataKeyCheck, DiskCheck],
  exports: [Lifecycle],
})
export class HealthModule {}
