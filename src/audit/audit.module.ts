import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditTrail } from './audit-trail';
import { LogRanges } from './log-ranges';
import { LogSearch } from './log-search';
import { LoginJournal } from './login-journal';
import { LoginLogs } from './login-log.repository';
import { AuditLog } from './persistence/audit-log.entity';
import { LoginLog } from './persistence/login-log.entity';

const logs = [AuditTrail, LoginJournal, LoginLogs, LogRanges, LogSearch];

@Module({
  imports: [TypeOrmModule.forFeature([LoginLog, AuditLog])],
  providers: logs,
  exports: logs,
})
export class AuditModule {}
