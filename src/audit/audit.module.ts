import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditTrail } from './audit-trail';
import { LoginHistory } from './login-history';
import { LoginJournal } from './login-journal';
import { LoginNames } from './login-names';
import { AuditLog } from './persistence/audit-log.entity';
import { LoginLog } from './persistence/login-log.entity';

@Module({
  imports: [TypeOrmModule.forFeature([LoginLog, AuditLog])],
  providers: [AuditTrail, LoginJournal, LoginHistory, LoginNames],
  exports: [AuditTrail, LoginJournal, LoginHistory, LoginNames],
})
export class AuditModule {}
