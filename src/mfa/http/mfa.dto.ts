import { Allow, IsBoolean, IsIn, IsOptional, IsString } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import { type CodeType, codeTypes } from '../codes/submitted-code';
import { userIdField } from '../../shared/user-id';

const mfaTokenField = {
  type: 'string',
  nullable: true,
  required: false,
  description:
    'The `mfa_token` of the /login response. Without it the request must come from the IP address of the login.',
} as const;

export class OtpVerifyDto {
  @ApiProperty({ ...userIdField, description: 'The `uid` of the /login response.' })
  @IsString()
  uid: string;

  @ApiProperty({
    enum: codeTypes,
    description: 'The `mfa_type` of the /login response, or `recovery` for a recovery code.',
  })
  @IsIn(codeTypes)
  type: CodeType;

  @ApiProperty({
    description: 'Six digits, or a recovery code. The hyphen and the case of a recovery code do not matter.',
    example: '123456',
  })
  @IsString()
  code: string;

  @ApiProperty(mfaTokenField)
  @IsOptional()
  @IsString()
  mfa_token?: string | null;

  @ApiProperty({
    type: 'boolean',
    nullable: true,
    required: false,
    description: 'True: this device needs no code for the `trusted_device_days` of /capabilities.',
  })
  @IsOptional()
  @IsBoolean()
  trust_device?: boolean | null;
}

export class OtpVerifyResponse {
  @ApiProperty({ enum: [true] })
  result: true;

  @ApiProperty()
  access_token: string;

  @ApiProperty()
  refresh_token: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The token of the trusted device, for /login. Null if the device is not trusted.',
  })
  device_token: string | null;
}

export class OtpResendDto {
  @ApiProperty(userIdField)
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

export class RecoveryCodesResponse {
  @ApiProperty({
    type: [String],
    description: 'Ten codes, shown only in this answer. Each can be used once. Earlier codes no longer work.',
    example: ['7k2pq-m0v4d', 'x9h3t-5zrca'],
  })
  codes: string[];
}

export class RecoveryCodeSummaryResponse {
  @ApiProperty({ type: 'integer', description: 'How many codes are left.', example: 9 })
  left: number;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'When the codes were made. Null when the user has none.',
  })
  created_at: string | null;
}
