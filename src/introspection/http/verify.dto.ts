import { Transform } from 'class-transformer';
import { Equals, IsNotEmpty, IsOptional, IsString, MaxLength } from 'class-validator';
import { ApiPropertyOptional } from '../../platform/http/api-docs';
import { refuseUnknownFieldsOf } from '../../platform/http/validation';

/** What a proxy demands of the user in addition to a live token. */
export class VerifyQuery {
  @ApiPropertyOptional({
    type: [String],
    // Fields of the parameter, not of its schema: `group=a&group=b`.
    ...({ style: 'form', explode: true } as object),
    description:
      'The user is in one of these groups. Names are compared as login names are: without regard to case. A name is unique within ' +
      'a tenant only: the administrator of another tenant can make a group with the same name, so say `tenant` as well.',
  })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? [value] : value))
  @MaxLength(255, { each: true })
  @IsNotEmpty({ each: true })
  @IsString({ each: true })
  group?: readonly string[];

  @ApiPropertyOptional({ enum: ['true'], description: 'The user is an administrator (`is_admin`) of any tenant.' })
  @IsOptional()
  @Equals('true')
  admin?: 'true';

  @ApiPropertyOptional({ description: 'The user is of the tenant with this id.' })
  @IsOptional()
  @MaxLength(64)
  @IsNotEmpty()
  @IsString()
  tenant?: string;
}

// A misspelt demand must not let everybody in.
refuseUnknownFieldsOf([VerifyQuery]);
