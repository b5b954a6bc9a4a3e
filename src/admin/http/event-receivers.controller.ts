import { Body, Controller, Param, Query, type StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { DoneResponse } from '../../platform/http/done-response';
import { DomainError } from '../../shared/errors/domain-error';
import { notFoundForCaller, requestInvalid } from '../../shared/errors/error-catalogue';
import type { Authority } from '../authority';
import { EventReceiverAdministration, type ReceiverWithSecret } from '../event-receiver-administration';
import { definedFields } from '../event-receiver-rules';
import { receiverView } from '../event-receiver-views';
import { AdminChange, AdminGet, AdminList } from '../frame/admin-route';
import { Caller } from '../frame/caller';
import { AlsoFor } from '../frame/declared-routes';
import { listed, type Page, type Reader, Streamed, streamNote } from '../frame/lists';
import {
  ChangeEventReceiverDto,
  CreateEventReceiverDto,
  EventReceiverItem,
  EventReceiverPage,
  EventReceiversQuery,
  EventReceiverWithSecret,
  ReceiverTestResult,
  ReplayReceiverDto,
  RotateReceiverSecretDto,
} from './event-receivers.dto';
import { refused, requestTime } from './refusals';

/** Other systems that get events (docs/spec/extensions.md#e). */
@ApiTags('admin')
@Controller('admin')
export class AdminEventReceiversController {
  constructor(private readonly receivers: EventReceiverAdministration) {}

  @AlsoFor('auditor')
  @AdminList('event-receivers', 'events.read', EventReceiverPage)
  @ApiOperation({ operationId: 'adminListEventReceivers', summary: 'The receivers of events', description: streamNote })
  async list(
    @Query() query: EventReceiversQuery,
    @Streamed() streamed: Reader | undefined,
  ): Promise<Page<EventReceiverItem> | StreamableFile> {
    const all = (await this.receivers.list()).map(receiverView);
    return listed(query, streamed, ['string'], (limit, after) => {
      const rest = all.filter(({ id }) => after === undefined || id > String(after[0]));
      const items = rest.slice(0, limit);
      return Promise.resolve({ items, next: rest.length > limit ? ([items.at(-1)!.id] as const) : null });
    });
  }

  @AdminChange('POST', 'event-receivers', 'events.write', EventReceiverWithSecret)
  @ApiOperation({
    operationId: 'adminCreateEventReceiver',
    summary: 'Send events to another system, from now on',
    description: 'At most 20 receivers. COMMON_400001 for `set` with `OIDC=off`.',
  })
  async create(@Body() body: CreateEventReceiverDto, @Caller() by: Authority): Promise<EventReceiverWithSecret> {
    const { id, ...fields } = body;
    return withSecret(await this.receivers.create(by, id, fields).catch(refused));
  }

  @AlsoFor('auditor')
  @AdminGet('event-receivers/:id', 'events.read', EventReceiverItem, notFoundForCaller)
  @ApiOperation({ operationId: 'adminGetEventReceiver', summary: 'One receiver, without its secret' })
  async one(@Param('id') id: string): Promise<EventReceiverItem> {
    return receiverView(await this.receivers.get(id).catch(refused));
  }

  @AdminChange('PATCH', 'event-receivers/:id', 'events.write', EventReceiverItem, notFoundForCaller)
  @ApiOperation({
    operationId: 'adminChangeEventReceiver',
    summary: 'Change the given fields of a receiver',
    description: 'A receiver that waits after a failure is tried at once.',
  })
  async change(
    @Param('id') id: string,
    @Body() body: ChangeEventReceiverDto,
    @Caller() by: Authority,
  ): Promise<EventReceiverItem> {
    if (Object.keys(definedFields(body)).length === 0) {
      throw new DomainError(requestInvalid, { fields: { body: ['body names no field'] } });
    }
    return receiverView(await this.receivers.change(by, id, body).catch(refused));
  }

  @AdminChange('DELETE', 'event-receivers/:id', 'events.write', DoneResponse, notFoundForCaller)
  @ApiOperation({ operationId: 'adminDeleteEventReceiver', summary: 'Delete a receiver, with its place' })
  async remove(@Param('id') id: string, @Caller() by: Authority): Promise<DoneResponse> {
    await this.receivers.remove(by, id).catch(refused);
    return { result: true };
  }

  @AdminChange('POST', 'event-receivers/:id/rotate-secret', 'events.write', EventReceiverWithSecret, notFoundForCaller)
  @ApiOperation({ operationId: 'adminRotateEventReceiverSecret', summary: 'Give a receiver a new secret' })
  async rotateSecret(
    @Param('id') id: string,
    @Body() { keep_old_seconds: keep = 0 }: RotateReceiverSecretDto,
    @Caller() by: Authority,
  ): Promise<EventReceiverWithSecret> {
    return withSecret(await this.receivers.rotateSecret(by, id, keep).catch(refused));
  }

  @AdminChange('POST', 'event-receivers/:id/replay', 'events.write', EventReceiverItem, notFoundForCaller)
  @ApiOperation({
    operationId: 'adminReplayEventReceiver',
    summary: 'Send a receiver its events once more, from a moment on',
    description: 'Only this receiver. Each event gets a new id, and names its first one.',
  })
  async replay(
    @Param('id') id: string,
    @Body() { from, event }: ReplayReceiverDto,
    @Caller() by: Authority,
  ): Promise<EventReceiverItem> {
    const since = from === undefined ? undefined : requestTime('from', from);
    return receiverView(await this.receivers.replay(by, id, { from: since, event }).catch(refused));
  }

  @AdminChange('POST', 'event-receivers/:id/test', 'events.write', ReceiverTestResult, notFoundForCaller)
  @ApiOperation({
    operationId: 'adminTestEventReceiver',
    summary: 'Post an event of the type webhook.test now',
    description: 'Also to a paused receiver. For `set` it is the verification event of the Shared Signals Framework.',
  })
  async test(@Param('id') id: string, @Caller() by: Authority): Promise<ReceiverTestResult> {
    const answer = await this.receivers.test(by, id).catch(refused);
    return { accepted: answer === undefined, answer: answer ?? null };
  }
}

const withSecret = ({ state, secret }: ReceiverWithSecret): EventReceiverWithSecret => ({
  ...receiverView(state),
  secret,
});
