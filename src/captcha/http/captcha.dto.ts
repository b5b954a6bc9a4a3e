import { Allow } from 'class-validator';
import { ApiProperty, ApiPropertyOptional } from '../../platform/http/api-docs';

export class VerifyCaptchaRequest {
  /** Not validated here: a value that is missing or not a string is CAPTCHA_401001, not a validation error. */
  @Allow()
  @ApiPropertyOptional({
    type: String,
    maxLength: 2048,
    description: 'The token that the captcha widget returned. A missing or empty token is CAPTCHA_401001.',
  })
  captcha_token?: unknown;
}

export class VerifyCaptchaResponse {
  @ApiProperty({ enum: [true], description: 'Always true: a failure is an error response.' })
  result: boolean;

  @ApiProperty({
    description: 'A pass for `captcha_token` of /login. It is valid once, for 5 minutes, from the same client address.',
  })
  captcha_token: string;
}

/** For the widget only. Every field is signed. */
export class CaptchaChallengeParameters {
  @ApiProperty({ example: 'PBKDF2/SHA-256' })
  algorithm: string;

  @ApiProperty({ type: 'integer', description: 'Rounds of one key derivation.' })
  cost: number;

  @ApiProperty({ type: 'integer', description: 'Expiry in seconds since the Unix epoch.' })
  expiresAt: number;

  @ApiProperty({ type: 'integer', description: 'Length of the derived key in bytes.' })
  keyLength: number;

  @ApiProperty({ description: 'The prefix of the derived key, in hexadecimal.' })
  keyPrefix: string;

  @ApiProperty()
  keySignature: string;

  @ApiProperty()
  nonce: string;

  @ApiProperty()
  salt: string;
}

export class CaptchaChallengeResponse {
  @ApiProperty()
  parameters: CaptchaChallengeParameters;

  @ApiProperty()
  signature: string;
}
