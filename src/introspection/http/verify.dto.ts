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
    description: 'The user is in one of these groups. There are no groups yet, so nobody is.',
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
}

// A misspelt demand must not let everybody in.
refuseUnknownFieldsOf([VerifyQuery]);
