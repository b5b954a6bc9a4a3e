import { ApiProperty } from '../../platform/http/api-docs';
import type { PasswordPolicy } from '../password-policy';

/** The rule in force, for the page that asks for a new password (§4.11 check 2). */
export class PasswordPolicyResponse implements PasswordPolicy {
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 72, description: 'Unicode code points.', example: 12 })
  min_length: number;

  @ApiProperty({ description: 'An upper-case letter (Unicode category Lu).' })
  require_upper: boolean;

  @ApiProperty({ description: 'A lower-case letter (Ll).' })
  require_lower: boolean;

  @ApiProperty({ description: 'A digit (Nd).' })
  require_digit: boolean;

  @ApiProperty({ description: 'Punctuation, a symbol or a space (P, S, Z).' })
  require_special: boolean;
}
