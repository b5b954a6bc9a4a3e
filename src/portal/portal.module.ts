import { Module } from '@nestjs/common';
import { CapabilitiesController } from './capabilities.controller';
import { PageSettings, PortalPages } from './portal-pages';

/** The web pages, and the capabilities that a login page reads (docs/spec/extensions.md#h). */
@Module({
  controllers: [CapabilitiesController],
  providers: [PageSettings, PortalPages],
  exports: [PageSettings],
})
export class PortalModule {}
