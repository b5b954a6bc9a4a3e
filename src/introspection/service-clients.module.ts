import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module';
import { ServiceClient } from './persistence/service-client.entity';
import { ServiceClients } from './service-clients';

/** For the endpoint and for the command line. */
@Module({
  imports: [TypeOrmModule.forFeature([ServiceClient]), AuditModule],
  providers: [ServiceClients],
  exports: [ServiceClients],
})
export class ServiceClientsModule {}
