import { IsIn, IsOptional, Matches } from 'class-validator';
import { type EventStatusName, eventStatusNames } from '../../events/kept-events';
import { ApiProperty } from '../../platform/http/api-docs';
import { nextCursor, PageQuery } from '../frame/lists';
import { timePattern } from '../../shared/time-text';

const nullable = { type: 'string', nullable: true } as const;

export class EventsQuery extends PageQuery {
  @ApiProperty({ required: false, enum: eventStatusNames, description: 'Only the events in this state.' })
  @IsOptional()
  @IsIn(eventStatusNames)
  status?: EventStatusName;
}

export class EventItem {
  @ApiProperty({ format: 'uuid', description: 'The `webhook-id`.' })
  id: string;

  @ApiProperty({ example: 'user.password_changed' })
  type: string;

  @ApiProperty({ ...nullable, description: 'The user whose order the event keeps. Null for an event without a user.' })
  user_id: string | null;

  @ApiProperty({
    enum: eventStatusNames,
    description: '`dead`: given up. `replayed`: sent once more as another event.',
  })
  status: EventStatusName;

  @ApiProperty({ ...nullable, description: 'The `webhook-id` of the first sending of a replayed event.' })
  replay_of: string | null;

  @ApiProperty({ description: 'Whether the payload is kept, so that the event can be sent.' })
  has_payload: boolean;

  @ApiProperty({ format: 'date-time', description: 'When the event happened.' })
  created_at: string;

  @ApiProperty({ ...nullable, format: 'date-time', description: 'When somebody asked for another sending.' })
  queued_at: string | null;

  @ApiProperty({ ...nullable, format: 'date-time', description: 'When the receiver accepted it.' })
  sent_at: string | null;
}

export class EventPage {
  @ApiProperty({
    type: [EventItem],
    description: 'The newest first. Without `status`, the event that was queued last is the first one.',
  })
  items: EventItem[];

  @ApiProperty(nextCursor)
  next: string | null;
}

export class ReplayDto {
  @ApiProperty({ format: 'date-time', description: 'Events from this moment on.' })
  @Matches(timePattern, { message: 'from must be a time such as 2026-03-02T10:00:00Z' })
  from: string;

  @ApiProperty({ format: 'date-time', description: 'Events before this moment.' })
  @Matches(timePattern, { message: 'to must be a time such as 2026-03-02T10:00:00Z' })
  to: string;
}

export class ReplayResult {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Events that are sent once more.' })
  queued: number;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: 'Events whose payload was deleted, or which another replay has queued.',
  })
  skipped: number;
}
