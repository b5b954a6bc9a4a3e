import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import type { Provider } from '../../users/user.entity';

const optional = { required: false } as const;
const nullable = { type: 'string', nullable: true } as const;

export class MoveUserDto {
  @ApiProperty({ enum: ['password', 'ldap', 'oidc'], description: 'Where the user signs in from now on.' })
  @IsIn(['password', 'ldap', 'oidc'])
  provider: Provider;

  @ApiProperty({ ...nullable, ...optional, example: 'entra', description: 'Required with `oidc`, and only there.' })
  @IsOptional()
  @IsString()
  @MaxLength(40)
  identity_provider?: string | null;

  @ApiProperty({
    ...{ ...nullable, ...optional, example: '8a1b2c3d' },
    description: 'What `match_claim` of the provider says of this user. Missing: it stays. Null: none.',
  })
  @IsOptional()
  @IsString()
  @MaxLength(255)
  external_id?: string | null;
}
