import { Module } from '@nestjs/common';
import { BrandModule } from '../brand/brand.module';
import { IdentityProvidersModule } from '../identity-providers/identity-providers.module';
import { BrandImages } from './brand-images';
import { CapabilitiesController } from './capabilities.controller';
import { PageSettings, PortalPages } from './portal-pages';

/** The web pages, and the capabilities that a login page reads (docs/spec/extensions.md#h). */
@Module({
  imports: [BrandModule, IdentityProvidersModule],
  controllers: [CapabilitiesController],
  providers: [BrandImages, PageSettings, PortalPages],
  exports: [PageSettings],
})
export class PortalModule {}
