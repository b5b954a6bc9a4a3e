import { IsBoolean, IsOptional, IsString, MaxLength, MinLength } from 'class-validator';
import { ApiProperty } from '../../../platform/http/api-docs';

export class BeginExternalDto {
  @ApiProperty({
    type: 'string',
    nullable: true,
    required: false,
    maxLength: 2048,
    example: '/reports',
    description: 'The path of the pages to open after the sign-in. It comes back beside the code.',
  })
  @IsOptional()
  @IsString()
  @MaxLength(2048)
  return_to?: string | null;

  @ApiProperty({
    type: 'boolean',
    nullable: true,
    required: false,
    default: false,
    description:
      'With an access token: the provider asks its owner again, and the code confirms the session at /user/reauthenticate.',
  })
  @IsOptional()
  @IsBoolean()
  fresh?: boolean | null;
}

export class ExternalBegunResponse {
  @ApiProperty({
    example: 'https://login.example.com/authorize?client_id=portal&response_type=code&state=k3J9',
    description: 'The address at the identity provider. The browser must keep the cookie of this answer.',
  })
  redirect_to: string;
}

export class ExternalLoginDto {
  @ApiProperty({ minLength: 1, example: 'Zt8r1c0K', description: 'The parameter `external` of the page.' })
  @IsString()
  @MinLength(1)
  code: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    required: false,
    description: 'The `device_token` of the last login on this device, as at /login.',
  })
  @IsOptional()
  @IsString()
  device_token?: string | null;
}
