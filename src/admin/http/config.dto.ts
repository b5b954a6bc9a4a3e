import { IsString, MaxLength } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import { PageQuery } from '../frame/lists';

const nullable = { type: 'string', nullable: true } as const;

export class ConfigQuery extends PageQuery {}

export class ConfigItem {
  @ApiProperty({ example: 'SMTP' })
  group: string;

  @ApiProperty({ example: 'HOST' })
  key: string;

  @ApiProperty({ ...nullable, example: 'mail.example.com', description: 'Null for a secret, and when it is not set.' })
  value: string | null;

  @ApiProperty({ description: 'The value can be written and never be read.' })
  secret: boolean;

  @ApiProperty({ description: 'Whether the setting has a value.' })
  set: boolean;
}

export class ConfigPage {
  @ApiProperty({ type: [ConfigItem], description: 'All settings that can be written, whether they are set or not.' })
  items: ConfigItem[];

  @ApiProperty({ ...nullable, description: 'Always null: there is one page.' })
  next: string | null;
}

export class ConfigValueDto {
  @ApiProperty({ example: 'mail.example.com' })
  @IsString()
  @MaxLength(10_000)
  value: string;
}

export class SmtpTestDto {
  @ApiProperty({ example: 'admin@example.com', description: 'One plain address.' })
  @IsString()
  @MaxLength(254)
  to: string;
}

export class SmtpTestResponse {
  @ApiProperty({ description: 'Whether the mail server has accepted the mail.' })
  result: boolean;

  @ApiProperty({
    required: false,
    example: 'AUTH: 535 5.7.8 Authentication failed',
    description: 'If it has not: what the server said, or why there was no conversation.',
  })
  reply?: string;
}
