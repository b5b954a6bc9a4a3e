import { Controller, Param, Query, type StreamableFile } from '@nestjs/common';
import type { MailRows } from '../../mail/queued-mails';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { notFoundForCaller } from '../../shared/errors/error-catalogue';
import type { Authority } from '../authority';
import { AdminChange, AdminList } from '../frame/admin-route';
import { AlsoFor } from '../frame/declared-routes';
import { Caller } from '../frame/caller';
import { listed, type Page, type Reader, Streamed, streamNote } from '../frame/lists';
import { Mails } from '../mails';
import { MailItem, MailPage, MailsQuery } from './mails.dto';
import { refused } from './refusals';
import { AdminResult } from './users.dto';

@ApiTags('admin')
@Controller('admin')
export class AdminMailsController {
  constructor(private readonly mails: Mails) {}

  @AlsoFor('help_desk', 'auditor')
  @AdminList('mails', 'mails.read', MailPage)
  @ApiOperation({ operationId: 'adminListMails', summary: 'The mails of the outbox', description: streamNote })
  list(@Query() query: MailsQuery, @Streamed() streamed: Reader | undefined): Promise<Page<MailItem> | StreamableFile> {
    return listed(query, streamed, ['time', 'string'], async (limit, after) => {
      const { items, next } = await this.mails.list(query.status, limit, after as MailRows['next'] | undefined);
      return {
        items: items.map(({ id, kind, status, attempts, createdAt, nextAttemptAt, expires }) => ({
          ...{ id, kind, status, attempts },
          created_at: createdAt.toISOString(),
          next_attempt_at: nextAttemptAt.toISOString(),
          expires: expires.toISOString(),
        })),
        next,
      };
    });
  }

  @AlsoFor('help_desk')
  @AdminChange('POST', 'mails/:id/retry', 'mails.write', AdminResult, notFoundForCaller)
  @ApiOperation({
    operationId: 'adminRetryMail',
    summary: 'Send a mail that was given up',
    description: 'COMMON_400001 when the mail has expired. USER_404001 when it was not given up.',
  })
  async retry(@Param('id') id: string, @Caller() by: Authority): Promise<AdminResult> {
    await this.mails.retry(by, id).catch(refused);
    return { result: true };
  }
}
