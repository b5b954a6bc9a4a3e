import { Module } from '@nestjs/common';
import { Directory } from './directory';
import { DirectoryStanding } from './standing';

/** The client of the LDAP directory (docs/spec/decisions.md#7). Nothing outside of this module speaks LDAP. */
@Module({ providers: [Directory, DirectoryStanding], exports: [Directory, DirectoryStanding] })
export class DirectoryModule {}
