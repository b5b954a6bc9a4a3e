import { Allow, ValidateBy } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import { identityKey } from '../../shared/identity-key';
import { isPlainAddress } from '../../shared/mail-address';

export class ForgetPasswordDto {
  @ApiProperty({ type: 'string', format: 'email', maxLength: 254, example: 'alice@example.com' })
  @ValidateBy({
    name: 'isOneEmailAddress',
    validator: { validate: isOneEmailAddress, defaultMessage: () => 'email must be one e-mail address' },
  })
  email: string;

  /** Not validated: a value outside the list is ignored, whatever its type. A language never makes a request fail. */
  @ApiProperty({
    type: 'string',
    enum: ['en', 'zh-CN'],
    required: false,
    description: 'Language of the mail and of the page that its link opens. Default: Accept-Language.',
  })
  @Allow()
  lang?: unknown;
}

/** Checks the normalised form: one plain address, without a list, group, display name or line break (ADR 0009). */
export function isOneEmailAddress(value: unknown): boolean {
  // Control characters are refused first, because normalising trims a line break at either end.
  return typeof value === 'string' && !/\p{Cc}/u.test(value) && isPlainAddress(identityKey(value));
}
