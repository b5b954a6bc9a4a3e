import { Module } from '@nestjs/common';
import { Directory } from './directory';

/** The client of the LDAP directory (docs/spec/decisions.md#7). Nothing outside of this module speaks LDAP. */
@Module({ providers: [Directory], exports: [Directory] })
export class DirectoryModule {}
