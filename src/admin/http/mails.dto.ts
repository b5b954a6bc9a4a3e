import { IsIn, IsOptional } from 'class-validator';
import { mailStatus } from '../../mail/mail-status';
import type { MailStatusName } from '../../mail/queued-mails';
import { ApiProperty } from '../../platform/http/api-docs';
import { nextCursor, PageQuery } from '../frame/lists';

const statuses = Object.keys(mailStatus) as MailStatusName[];

export class MailsQuery extends PageQuery {
  @ApiProperty({ required: false, enum: statuses, description: 'Only the mails in this state.' })
  @IsOptional()
  @IsIn(statuses)
  status?: MailStatusName;
}

export class MailItem {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ example: 'reset-link' })
  kind: string;

  @ApiProperty({
    enum: statuses,
    description: '`dead`: given up. `expired`: not sent in time. `skipped`: there was no mail server.',
  })
  status: MailStatusName;

  @ApiProperty({ type: 'integer', minimum: 0 })
  attempts: number;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ format: 'date-time', description: 'When a waiting mail is due.' })
  next_attempt_at: string;

  @ApiProperty({ format: 'date-time', description: 'The mail is not sent later.' })
  expires: string;
}

export class MailPage {
  @ApiProperty({ type: [MailItem], description: 'The newest first.' })
  items: MailItem[];

  @ApiProperty(nextCursor)
  next: string | null;
}
