import { Module } from '@nestjs/common';
import { SessionsModule } from '../sessions/sessions.module';
import { IntrospectionController } from './http/introspection.controller';
import { ServiceClientsModule } from './service-clients.module';

/** `POST /introspect` for the services behind the portal (RFC 7662, docs/spec/extensions.md#f). */
@Module({ imports: [SessionsModule, ServiceClientsModule], controllers: [IntrospectionController] })
export class IntrospectionModule {}
