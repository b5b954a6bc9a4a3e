import { IsString, MaxLength } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';

const nullable = { type: 'string', nullable: true } as const;

export class BegunTryResponse {
  @ApiProperty({
    example: 'https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/oauth2/v2.0/authorize?client_id=…',
    description: 'Where this browser goes. It comes back to the console, at `#/identity-providers/{id}?tried=CODE`.',
  })
  redirect_to: string;
}

export class TriedCodeDto {
  @ApiProperty({ maxLength: 255, description: '`tried` of the address at which the browser came back.' })
  @IsString()
  @MaxLength(255)
  code: string;
}

/** The fields of a user as the mapping of the provider reads them. */
export class TriedUser {
  @ApiProperty({ ...nullable, example: 'alice@example.com' })
  login_name: string | null;

  @ApiProperty({ ...nullable, example: 'alice@example.com', description: 'Null also when it is not verified.' })
  email: string | null;

  @ApiProperty({ ...nullable, example: 'Alice' })
  nickname: string | null;

  @ApiProperty({ ...nullable, example: '8a1b2c3d', description: 'The value of `match_claim`.' })
  external_id: string | null;

  @ApiProperty({ type: [String], nullable: true, example: null, description: 'Null: the provider tells no groups.' })
  groups: string[] | null;
}

export class TryResponse {
  @ApiProperty({
    ...{ type: 'object', additionalProperties: true, nullable: true },
    description: 'What the provider says of the person, verified. Null when its answer was refused.',
  })
  claims: Record<string, unknown> | null;

  @ApiProperty({ type: TriedUser, nullable: true })
  user: TriedUser | null;

  @ApiProperty({ description: 'Whether the second factor of the provider would be one here.' })
  second_factor: boolean;

  @ApiProperty({
    enum: ['signs_in', 'binds', 'creates', 'refused'],
    description:
      'What a sign-in would do: sign in to the account of this person, bind the account with this `external_id`, make one, or refuse.',
  })
  outcome: string;

  @ApiProperty({ ...nullable, description: 'The account that is meant, or in the way.' })
  uid: string | null;

  @ApiProperty({ ...nullable, example: 'alice' })
  login_name: string | null;

  @ApiProperty({ ...nullable, description: 'Why a sign-in would be refused, in English.' })
  reason: string | null;
}
