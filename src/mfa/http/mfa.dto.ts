import { Allow, IsIn, IsOptional, IsString } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import type { MfaType } from '../../users/user.entity';

const mfaTokenField = {
  type: 'string',
  nullable: true,
  required: false,
  description:
    'The `mfa_token` of the /login response. Without it the request must come from the IP address of the login.',
} as const;

export class OtpVerifyDto {
  @ApiProperty({ format: 'uuid', description: 'The `uid` of the /login response.' })
  @IsString()
  uid: string;

  @ApiProperty({ enum: ['email', 'totp'], description: 'The `mfa_type` of the /login response.' })
  @IsIn(['email', 'totp'])
  type: MfaType;

  @ApiProperty({ pattern: '^[0-9]{6}$', example: '123456' })
  @IsString()
  code: string;

  @ApiProperty(mfaTokenField)
  @IsOptional()
  @IsString()
  mfa_token?: string | null;
}

export class OtpVerifyResponse {
  @ApiProperty({ enum: [true] })
  result: true;

  @ApiProperty()
  access_token: string;

  @ApiProperty()
  refresh_token: string;
}

export class OtpResendDto {
  @ApiProperty({ format: 'uuid' })
  @IsString()
  uid: string;

  /** Not validated here: every value other than `email` is MFA_400001, not a validation error. */
  @ApiProperty({ type: 'string', enum: ['email'] })
  @Allow()
  type: unknown;

  @ApiProperty(mfaTokenField)
  @IsOptional()
  @IsString()
  mfa_token?: string | null;
}

export class OtpResendResponse {
  @ApiProperty({ enum: [true] })
  result: true;

  @ApiProperty({ type: 'integer', description: 'Seconds until another code can be sent.', example: 60 })
  retry_after: number;
}

export class TotpSecretDto {
  @ApiProperty({
    type: 'string',
    nullable: true,
    required: false,
    description: 'A code of the current authenticator. Required to replace it when the login is older than 300 s.',
  })
  @IsOptional()
  @IsString()
  code?: string | null;
}

export class TotpSecretResponse {
  @ApiProperty({ description: 'The TOTP secret: 160 bits in Base32.', example: 'T2LE4C2OR5PQUCSGFR7SESIXVL2NGPMO' })
  secret: string;

  @ApiProperty({
    description: 'The provisioning URI. /otp-qrcode/{uid} shows it as a QR code.',
    example: 'otpauth://totp/…',
  })
  uri: string;
}
