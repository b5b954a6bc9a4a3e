import { IsBoolean, IsObject, IsOptional, IsString, MinLength } from 'class-validator';
import { ApiProperty, ApiPropertyOptional } from '../../platform/http/api-docs';
import { AuthenticationResponseDto } from '../login/passkey/passkey-login.dto';

/** Either `password`, or `challenge_id` and `response`, or `external`. */
export class ReauthenticateDto {
  @ApiProperty({
    type: 'string',
    nullable: true,
    required: false,
    minLength: 1,
    description: 'The password of the user, or that of the directory for a user of the directory.',
    example: 'Correct-Horse-7',
  })
  @IsOptional()
  @IsString()
  @MinLength(1)
  password?: string | null;

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    required: false,
    description: 'The `challenge_id` of /login/passkey-options.',
    example: null,
  })
  @IsOptional()
  @IsString()
  challenge_id?: string | null;

  @ApiPropertyOptional({
    type: AuthenticationResponseDto,
    description: 'The answer of `navigator.credentials.get` in JSON.',
    example: undefined,
  })
  @IsOptional()
  @IsObject()
  response?: AuthenticationResponseDto | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    required: false,
    minLength: 1,
    description: 'The code of a sign-in at the identity provider of the user that began with `fresh`.',
    example: null,
  })
  @IsOptional()
  @IsString()
  @MinLength(1)
  external?: string | null;

  @ApiProperty({
    type: 'boolean',
    nullable: true,
    required: false,
    default: false,
    description: 'True: a code is due after the password, also where a login asks for none. A passkey is both factors.',
  })
  @IsOptional()
  @IsBoolean()
  second_factor?: boolean | null;
}
