import { IsObject, IsString, Matches } from 'class-validator';
import { ApiProperty, ApiPropertyOptional } from '../../platform/http/api-docs';
import { notInNames, plainTextRule } from '../../shared/plain-text';
import type { Passkey } from '../persistence/passkey.entity';

/** The length is that of the column. */
const nameForm = new RegExp(`^(?=.*\\S)[^${notInNames}]{1,64}$`, 'u');
const nameMessage = { message: `name must be 1 to 64 characters with ${plainTextRule}` };
const nameField = {
  minLength: 1,
  maxLength: 64,
  description: 'Shown to the owner and to administrators.',
  example: 'My phone',
};

export class AttestationDto {
  @ApiProperty({ description: 'Base64url.' })
  clientDataJSON: string;

  @ApiProperty({ description: 'Base64url.' })
  attestationObject: string;

  @ApiProperty({ type: [String], required: false, example: ['internal'] })
  transports?: string[];
}

/** `RegistrationResponseJSON` of WebAuthn level 3. The ceremony judges its fields, and answers PASSKEY_400001. */
export class RegistrationResponseDto {
  @ApiProperty({ description: 'Base64url.' })
  id: string;

  @ApiProperty({ description: 'Equal to `id`.' })
  rawId: string;

  @ApiProperty({ enum: ['public-key'] })
  type: string;

  @ApiProperty({ type: AttestationDto })
  response: AttestationDto;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true, example: {} })
  clientExtensionResults?: Record<string, unknown>;

  @ApiProperty({ type: 'string', nullable: true, required: false, example: 'platform' })
  authenticatorAttachment?: string | null;
}

export class RegisterPasskeyDto {
  @ApiProperty(nameField)
  @IsString()
  @Matches(nameForm, nameMessage)
  name: string;

  @ApiProperty({ type: RegistrationResponseDto, description: 'The answer of `navigator.credentials.create` in JSON.' })
  @IsObject()
  response: RegistrationResponseDto;
}

export class RenamePasskeyDto {
  @ApiProperty(nameField)
  @IsString()
  @Matches(nameForm, nameMessage)
  name: string;
}

export class PasskeyRegisteredResponse {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ example: 'My phone' })
  name: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;
}

export class PasskeyItem extends PasskeyRegisteredResponse {
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, description: 'The last login with it.' })
  last_used_at: string | null;

  @ApiProperty({ description: 'Whether it is copied to other devices of its owner, so that a lost device is no loss.' })
  backed_up: boolean;
}

export class PasskeysResponse {
  @ApiProperty({ type: [PasskeyItem], description: 'The newest first.' })
  passkeys: PasskeyItem[];
}

export class PasskeyRemovedResponse {
  @ApiProperty({ enum: [true] })
  result: true;
}

export function registeredView({ id, name, createdAt }: Passkey): PasskeyRegisteredResponse {
  return { id, name, created_at: createdAt.toISOString() };
}

export function itemView(passkey: Passkey): PasskeyItem {
  const { lastUsedAt, backedUp } = passkey;
  return { ...registeredView(passkey), last_used_at: lastUsedAt?.toISOString() ?? null, backed_up: backedUp };
}
