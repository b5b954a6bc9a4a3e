import { Allow, IsString, ValidateBy } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import { DoneResponse } from '../../platform/http/done-response';
import { identityKey } from '../../shared/identity-key';
import { isPlainAddress } from '../../shared/mail-address';
import { changeType, type RequestType } from '../../shared/change-type';
import type { PasswordPolicy } from '../password-policy';
import { type RequestSummary, requestStatus } from '../persistence/password-change-request.entity';
import { userIdField } from '../../shared/user-id';

export class ForgetPasswordDto {
  @ApiProperty({ type: 'string', format: 'email', maxLength: 254, example: 'alice@example.com' })
  @ValidateBy({
    name: 'isOneEmailAddress',
    validator: { validate: isOneEmailAddress, defaultMessage: () => 'email must be one e-mail address' },
  })
  email: string;

  /** Not validated: an unknown value is ignored, whatever its type. A language never makes a request fail. */
  @ApiProperty({
    type: 'string',
    example: 'de',
    required: false,
    description:
      'Language of the mail and of the page that its link opens: one of the languages of GET /capabilities. ' +
      'Any other value is ignored. Default: Accept-Language.',
  })
  @Allow()
  lang?: unknown;
}

/** Checks the normalised form: one plain address, without a list, group, display name or line break (ADR 0009). */
export function isOneEmailAddress(value: unknown): boolean {
  // Control characters are refused first, because normalising trims a line break at either end.
  return typeof value === 'string' && !/\p{Cc}/u.test(value) && isPlainAddress(identityKey(value));
}

/** A password change request as the endpoints show it (docs/spec/service.md#2.5). */
export class ChangeRequestResponse {
  @ApiProperty({ format: 'uuid', description: 'Names the request; it is not the token of the link.' })
  uid: string;

  @ApiProperty(userIdField)
  user_id: string;

  @ApiProperty({
    type: 'integer',
    enum: [changeType.first, changeType.forgotten, changeType.expired],
    description: '0 first-time password, 2 forgotten, 3 expired.',
  })
  type: RequestType;

  @ApiProperty({ type: 'integer', enum: Object.values(requestStatus), description: '0 pending, 1 used.' })
  status: number;

  @ApiProperty({ format: 'date-time' })
  expired: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;
}

export function changeRequestResponse(request: RequestSummary): ChangeRequestResponse {
  return {
    uid: request.uid,
    user_id: request.userId,
    type: request.type,
    status: request.status,
    expired: request.expired.toISOString(),
    created_at: request.createdAt.toISOString(),
  };
}

/**
 * The request of a live link, for whoever holds the link. `POST /forget-password` must not answer the login name: anybody
 * who knows an address can call it.
 */
export class LiveRequestResponse extends ChangeRequestResponse {
  @ApiProperty({ description: 'The name to sign in with once the password is set.', example: 'alice' })
  login_name: string;
}

/** Only the types are validated here. Wrong values have their own error codes, in the order of the specification. */
export class ChangePasswordDto {
  @ApiProperty({ format: 'uuid', description: 'The reset token: `uid` of the link, or `change_uid` of the login.' })
  @IsString()
  req_uid: string;

  @ApiProperty({
    description: 'The new password, used exactly as sent. At most 72 bytes in UTF-8.',
    example: 'Correct-Horse-7',
  })
  @IsString()
  password: string;

  @ApiProperty({ description: 'The new password once more. It must equal `password`.', example: 'Correct-Horse-7' })
  @IsString()
  confirm_password: string;
}

export class PasswordChangedResponse extends DoneResponse {}

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

  @ApiProperty({ description: 'Refuses the passwords of a public list of common passwords.' })
  forbid_common: boolean;

  @ApiProperty({
    description: 'Refuses a password that contains the login name, nickname or e-mail name of its owner.',
  })
  forbid_own_data: boolean;

  @ApiProperty({ description: 'Refuses a password that is known from a data breach.' })
  breach_check: boolean;
}
