import { IsObject, IsString } from 'class-validator';
import { ApiProperty, ApiPropertyOptional } from '../../../platform/http/api-docs';

/** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn level 3, for `navigator.credentials.get`. */
export class RequestOptionsDto {
  @ApiProperty({ description: 'Base64url.' })
  challenge: string;

  @ApiProperty({ example: 'portal.example.com' })
  rpId: string;

  @ApiProperty({ type: 'integer', description: 'Milliseconds.', example: 300000 })
  timeout: number;

  @ApiProperty({ enum: ['required'] })
  userVerification: string;

  @ApiProperty({
    type: [String],
    maxItems: 0,
    example: [],
    description: 'Empty: the authenticator offers the passkeys that it has for this site.',
  })
  allowCredentials: readonly never[];
}

export class PasskeyOptionsResponse {
  @ApiProperty({ format: 'uuid', description: 'Goes back to /login/passkey. It works once, within five minutes.' })
  challenge_id: string;

  @ApiProperty({ type: RequestOptionsDto })
  options: RequestOptionsDto;
}

export class AssertionDto {
  @ApiProperty({ description: 'Base64url.' })
  clientDataJSON: string;

  @ApiProperty({ description: 'Base64url.' })
  authenticatorData: string;

  @ApiProperty({ description: 'Base64url.' })
  signature: string;

  @ApiProperty({ description: 'Base64url. Names the owner of the passkey.' })
  userHandle: string;
}

/** `AuthenticationResponseJSON` of WebAuthn level 3. The ceremony judges its fields, and answers PASSKEY_401001. */
export class AuthenticationResponseDto {
  @ApiProperty({ description: 'Base64url.' })
  id: string;

  @ApiProperty({ description: 'Equal to `id`.' })
  rawId: string;

  @ApiProperty({ enum: ['public-key'] })
  type: string;

  @ApiProperty({ type: AssertionDto })
  response: AssertionDto;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true, example: {} })
  clientExtensionResults?: Record<string, unknown>;

  @ApiProperty({ type: 'string', nullable: true, required: false, example: 'platform' })
  authenticatorAttachment?: string | null;
}

export class PasskeyLoginDto {
  @ApiProperty({ description: 'The `challenge_id` of /login/passkey-options.', format: 'uuid' })
  @IsString()
  challenge_id: string;

  @ApiProperty({ type: AuthenticationResponseDto, description: 'The answer of `navigator.credentials.get` in JSON.' })
  @IsObject()
  response: AuthenticationResponseDto;
}
