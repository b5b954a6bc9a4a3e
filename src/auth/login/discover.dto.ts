import { IsString, MaxLength, MinLength } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import type { Provider } from '../../users/user.entity';

export class DiscoverDto {
  @ApiProperty({
    example: 'alice@example.com',
    minLength: 1,
    maxLength: 255,
    description: 'What the user typed as the name.',
  })
  @IsString()
  @MinLength(1)
  @MaxLength(255)
  username: string;
}

export class DiscoverResponse {
  @ApiProperty({
    enum: ['password', 'ldap', 'oidc'],
    description:
      'Decided by the domain of the name alone. `password` and `ldap` lead to the field of the password: /login takes both with `auto`.',
  })
  provider: Provider;

  @ApiProperty({
    type: String,
    nullable: true,
    example: 'entra',
    description: 'With `oidc` the id for POST /login/external/{id}, else null.',
  })
  identity_provider: string | null;
}
