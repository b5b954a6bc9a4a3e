import { IsString } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';

/** §4.11. Only the types are judged here; the values have codes of their own, in the specified order. */
export class ChangePasswordDto {
  @ApiProperty({ format: 'uuid', description: 'The reset token: `uid` of the link, or `change_uid` of the login.' })
  @IsString()
  req_uid: string;

  @ApiProperty({ description: 'Used exactly as sent; at most 72 bytes in UTF-8.', example: 'Correct-Horse-7' })
  @IsString()
  password: string;

  @ApiProperty({ description: 'Must equal password.', example: 'Correct-Horse-7' })
  @IsString()
  confirm_password: string;
}

export class PasswordChangedResponse {
  @ApiProperty({ enum: [true] })
  result: true;
}
