import { Allow } from 'class-validator';
import { ApiProperty, ApiPropertyOptional } from '../../platform/http/api-docs';

export class VerifyCaptchaRequest {
  /** Of any type for the pipe: missing, empty and foreign ones are CAPTCHA_401001 like a wrong one (decisions.md 2). */
  @Allow()
  @ApiPropertyOptional({
    type: String,
    maxLength: 2048,
    description: 'What the captcha widget gave. Missing or empty is CAPTCHA_401001.',
  })
  captcha_token?: unknown;
}

export class VerifyCaptchaResponse {
  @ApiProperty({ description: 'Always true: everything else is an error.' })
  result: boolean;

  @ApiProperty({
    description: 'A pass for the captcha_token of /login: once, within 5 minutes, from the same client address.',
  })
  captcha_token: string;
}

/** What the challenge says is for the widget alone: every field is signed. */
export class CaptchaChallengeParameters {
  @ApiProperty({ example: 'PBKDF2/SHA-256' })
  algorithm: string;

  @ApiProperty({ description: 'Rounds of one derivation.' })
  cost: number;

  @ApiProperty({ description: 'Seconds since the epoch.' })
  expiresAt: number;

  @ApiProperty({ description: 'Bytes.' })
  keyLength: number;

  @ApiProperty({ description: 'What the derived key must begin with, in hexadecimal.' })
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
