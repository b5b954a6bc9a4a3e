import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { IntrospectionController } from './http/introspection.controller';
import { VerifyController } from './http/verify.controller';
import { ServiceClient } from './service-client.entity';
import { ServiceClients } from './service-client.repository';

/** For the endpoint and for the command line. */
@Module({
  imports: [TypeOrmModule.forFeature([ServiceClient]), AuditModule, UsersModule],
  providers: [ServiceClients],
  exports: [ServiceClients],
})
export class ServiceClientsModule {}

/** `POST /introspect` for the services behind the portal (RFC 7662, docs/spec/extensions.md#f), and `GET /verify` for proxies. */
@Module({ imports: [SessionsModule, ServiceClientsModule], controllers: [IntrospectionController, VerifyController] })
export class IntrospectionModule {}
