import { IsString } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';

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

export class PasswordChangedResponse {
  @ApiProperty({ enum: [true] })
  result: true;
}
