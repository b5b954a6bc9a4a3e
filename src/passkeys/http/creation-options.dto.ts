import { ApiProperty } from '../../platform/http/api-docs';
import type { CreationOptions } from '../webauthn/webauthn';

export class RelyingPartyDto {
  @ApiProperty({ example: 'portal.example.com' })
  id: string;

  @ApiProperty({ example: 'Example Corp' })
  name: string;
}

export class PasskeyUserDto {
  @ApiProperty({ description: 'The user handle: the `uid` in base64url.' })
  id: string;

  @ApiProperty({ description: 'The login name.', example: 'alice' })
  name: string;

  @ApiProperty({ example: 'Alice' })
  displayName: string;
}

export class CredentialParameterDto {
  @ApiProperty({ type: 'integer', description: 'A COSE algorithm.', example: -7 })
  alg: number;

  @ApiProperty({ enum: ['public-key'] })
  type: string;
}

export class CredentialDescriptorDto {
  @ApiProperty({ description: 'Base64url.' })
  id: string;

  @ApiProperty({ enum: ['public-key'] })
  type: string;

  @ApiProperty({ type: [String], example: ['internal'] })
  transports: string[];
}

export class AuthenticatorSelectionDto {
  @ApiProperty({ enum: ['required'] })
  residentKey: string;

  @ApiProperty({ enum: [true] })
  requireResidentKey: boolean;

  @ApiProperty({ enum: ['required'] })
  userVerification: string;
}

export class CreationExtensionsDto {
  @ApiProperty({ enum: [true] })
  credProps: boolean;
}

/** `PublicKeyCredentialCreationOptionsJSON` of WebAuthn level 3, for `navigator.credentials.create`. */
export class CreationOptionsResponse {
  @ApiProperty({ type: RelyingPartyDto })
  rp: RelyingPartyDto;

  @ApiProperty({ type: PasskeyUserDto })
  user: PasskeyUserDto;

  @ApiProperty({ description: 'Base64url. It can be answered once, within five minutes, by this session.' })
  challenge: string;

  @ApiProperty({ type: [CredentialParameterDto] })
  pubKeyCredParams: CredentialParameterDto[];

  @ApiProperty({ type: 'integer', description: 'Milliseconds.', example: 300000 })
  timeout: number;

  @ApiProperty({ type: [CredentialDescriptorDto], description: 'The passkeys that the user already has.' })
  excludeCredentials: CredentialDescriptorDto[];

  @ApiProperty({ type: AuthenticatorSelectionDto })
  authenticatorSelection: AuthenticatorSelectionDto;

  @ApiProperty({ type: [String], example: [] })
  hints: string[];

  @ApiProperty({ enum: ['none'] })
  attestation: string;

  @ApiProperty({ type: CreationExtensionsDto })
  extensions: CreationExtensionsDto;
}

export const creationOptions = (options: CreationOptions) => options as CreationOptionsResponse;
