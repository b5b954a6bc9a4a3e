import { Allow, IsIn, IsOptional, IsString, MaxLength, MinLength } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import type { Provider } from '../../users/user.entity';

/** §4.1. A missing `captcha_token` is CAPTCHA_401001, not a validation error, so it is not judged here. */
export class LoginDto {
  @ApiProperty({
    description: 'The login name; not the e-mail address.',
    minLength: 1,
    maxLength: 255,
    example: 'alice',
  })
  @IsString()
  @MinLength(1)
  @MaxLength(255)
  username: string;

  /** Long ones are answered like wrong ones: what bcrypt would cut off must not become part of a password. */
  @ApiProperty({ minLength: 1, example: 'Correct-Horse-7' })
  @IsString()
  @MinLength(1)
  password: string;

  @ApiProperty({ enum: ['password', 'ldap'], default: 'password', required: false })
  @IsOptional()
  @IsIn(['password', 'ldap'])
  provider?: Provider;

  @ApiProperty({ description: 'The token of the captcha, or the pass that /verify-captcha answered.', type: 'string' })
  @Allow()
  captcha_token?: unknown;
}
