import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MailModule } from '../mail/mail.module';
import { UsersModule } from '../users/users.module';
import { Brand } from './brand.entity';
import { BrandFiles } from './brand-files';
import { Brands } from './brands.repository';
import { BrandsOfMails } from './brands-of-mails';
import { BrandImage } from './persistence/brand-image.entity';
import { TenantBrands } from './tenant-brands';

/** The brand of the default and of each tenant (docs/spec/extensions.md#o, ADR 0044). */
@Module({
  imports: [TypeOrmModule.forFeature([Brand, BrandImage]), MailModule, UsersModule],
  providers: [Brands, TenantBrands, BrandFiles, BrandsOfMails],
  exports: [Brands, TenantBrands, BrandFiles],
})
export class BrandModule {}
