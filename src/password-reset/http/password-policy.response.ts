import { ApiProperty } from '../../platform/http/api-docs';
import type { PasswordPolicy } from '../password-policy';

/** The current policy, for the page that asks for a new password (docs/spec/decisions.md#password-policy). */
export class PasswordPolicyResponse implements PasswordPolicy {
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: 72,
    description: 'Minimum length in Unicode code points.',
    example: 12,
  })
  min_length: number;

  @ApiProperty({ description: 'Requires an upper-case letter (Unicode category Lu).' })
  require_upper: boolean;

  @ApiProperty({ description: 'Requires a lower-case letter (Ll).' })
  require_lower: boolean;

  @ApiProperty({ description: 'Requires a digit (Nd).' })
  require_digit: boolean;

  @ApiProperty({ description: 'Requires punctuation, a symbol or a space (P, S, Z).' })
  require_special: boolean;
}
