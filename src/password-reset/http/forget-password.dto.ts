import { Allow, ValidateBy } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import { identityKey } from '../../shared/identity-key';
import { isPlainAddress } from '../../shared/mail-address';

/** §4.9. */
export class ForgetPasswordDto {
  @ApiProperty({ type: 'string', format: 'email', maxLength: 254, example: 'alice@example.com' })
  @ValidateBy({
    name: 'isOneEmailAddress',
    validator: { validate: isOneEmailAddress, defaultMessage: () => 'email must be one e-mail address' },
  })
  email: string;

  /** Whatever is not on the list falls through, of whatever type: a language never makes a request fail (T131). */
  @ApiProperty({
    type: 'string',
    enum: ['en', 'zh-CN'],
    required: false,
    description: 'Language of the mail and of the page that its link opens; otherwise Accept-Language.',
  })
  @Allow()
  lang?: unknown;
}

/** In the form that it is looked up by: one plain address, no list, group, name or line break (T133, T212). */
export function isOneEmailAddress(value: unknown): boolean {
  // A line break at the ends would be trimmed off; nobody who types an address sends one.
  return typeof value === 'string' && !/\p{Cc}/u.test(value) && isPlainAddress(identityKey(value));
}
