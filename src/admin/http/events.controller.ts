import { Body, Controller, Param, Query, type StreamableFile } from '@nestjs/common';
import type { KeptEvents } from '../../events/kept-events';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { notFoundForCaller } from '../../shared/errors/error-catalogue';
import type { Authority } from '../authority';
import { Events, eventView, mostReplayed } from '../events';
import { AdminChange, AdminList } from '../frame/admin-route';
import { AlsoFor } from '../frame/declared-routes';
import { Caller } from '../frame/caller';
import { listed, type Page, type Reader, Streamed, streamNote } from '../frame/lists';
import { EventItem, EventPage, EventsQuery, ReplayDto, ReplayResult } from './events.dto';
import { refused, requestTime } from './refusals';
import { AdminResult } from './users.dto';

@ApiTags('admin')
@Controller('admin')
export class AdminEventsController {
  constructor(private readonly events: Events) {}

  @AlsoFor('auditor')
  @AdminList('events', 'events.read', EventPage)
  @ApiOperation({ operationId: 'adminListEvents', summary: 'The events of the webhook', description: streamNote })
  list(
    @Query() query: EventsQuery,
    @Streamed() streamed: Reader | undefined,
  ): Promise<Page<EventItem> | StreamableFile> {
    return listed(query, streamed, ['time', 'number'], async (limit, after) => {
      const { items, next } = await this.events.list(query.status, limit, after as KeptEvents['next'] | undefined);
      return { items: items.map(eventView), next };
    });
  }

  @AdminChange('POST', 'events/:id/retry', 'events.write', AdminResult, notFoundForCaller)
  @ApiOperation({
    operationId: 'adminRetryEvent',
    summary: 'Send an event that was given up',
    description:
      'The `webhook-id` stays. COMMON_400001 when the payload was deleted. USER_404001 when it was not given up.',
  })
  async retry(@Param('id') id: string, @Caller() by: Authority): Promise<AdminResult> {
    await this.events.retry(by, id).catch(refused);
    return { result: true };
  }

  @AdminChange('POST', 'events/replay', 'events.write', ReplayResult)
  @ApiOperation({
    operationId: 'adminReplayEvents',
    summary: 'Send the events of a time once more, as new ones',
    description: `Those that were sent or given up, at most ${mostReplayed.request}. Each has \`replay_of\` in its body.`,
  })
  replay(@Body() { from, to }: ReplayDto, @Caller() by: Authority): Promise<ReplayResult> {
    const [first, end] = [requestTime('from', from), requestTime('to', to)];
    return this.events.replay(by, first, end, mostReplayed.request).catch(refused);
  }
}
