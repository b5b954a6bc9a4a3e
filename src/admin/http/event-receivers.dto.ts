import { IsArray, IsBoolean, IsIn, IsInt, IsOptional, IsString, Matches, Max, Min, ValidateIf } from 'class-validator';
import { receiverFormats, type ReceiverFormat } from '../../events/event-receivers';
import { ApiProperty } from '../../platform/http/api-docs';
import { timePattern } from '../../shared/time-text';
import { maxKeptSeconds } from '../application-administration';
import { nextCursor, PageQuery } from '../frame/lists';

const optional = { required: false } as const;
const nullable = { type: 'string', nullable: true } as const;
const moment = { ...nullable, format: 'date-time' } as const;
const texts = { type: [String] as [StringConstructor] };

const field = {
  url: { example: 'https://siem.example.com/events', description: 'https.' },
  format: {
    enum: receiverFormats,
    description:
      '`native`: as for `WEBHOOK_URL`. `cloudevents`: CloudEvents 1.0. `set`: Security Event Tokens, RFC 8417.',
  },
  types: { ...texts, example: ['user.*', 'login.failed'], description: 'Types, or `prefix.*`. Empty: all.' },
  tenants: {
    ...texts,
    example: ['acme'],
    description: 'Only events about users of these tenants. Empty: all events, also those about nobody.',
  },
  audience: { ...nullable, example: null, description: 'The `aud` of a token. Null: the URL.' },
  enabled: { description: 'False: paused. Its events wait, at most 30 days.' },
};

export class EventReceiversQuery extends PageQuery {}

export class EventReceiverItem {
  @ApiProperty({ example: 'siem', description: 'Also its name in the metrics.' })
  id: string;

  @ApiProperty(field.url)
  url: string;

  @ApiProperty(field.format)
  format: ReceiverFormat;

  @ApiProperty(field.types)
  types: string[];

  @ApiProperty(field.tenants)
  tenants: string[];

  @ApiProperty(field.audience)
  audience: string | null;

  @ApiProperty(field.enabled)
  enabled: boolean;

  @ApiProperty({
    ...{ type: 'integer', minimum: 0, maximum: 100_000 },
    description: 'Events that the receiver has not got yet, also those that its filters will leave out.',
  })
  waiting: number;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'The age of the first of them, 0 without one.' })
  oldest_waiting_seconds: number;

  @ApiProperty(moment)
  last_success_at: string | null;

  @ApiProperty({ ...moment, description: 'The first failure after the last success. Null: nothing fails.' })
  failing_since: string | null;

  @ApiProperty({ ...nullable, example: 'status 503', description: 'Why the last failure happened.' })
  last_error: string | null;

  @ApiProperty(moment)
  last_error_at: string | null;

  @ApiProperty({ ...moment, description: 'When a failed sending is tried again.' })
  next_attempt_at: string | null;

  @ApiProperty({
    ...{ type: 'integer', minimum: 0 },
    description: 'Events that the receiver has refused for so long that the next ones were sent.',
  })
  set_aside: number;

  @ApiProperty({ ...nullable, description: 'The id of the last one. A replay from it sends it again.' })
  last_set_aside: string | null;

  @ApiProperty({ ...moment, description: 'Until then requests are signed by the former secret as well.' })
  old_secret_expires_at: string | null;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ format: 'date-time' })
  changed_at: string;
}

export class EventReceiverWithSecret extends EventReceiverItem {
  @ApiProperty({ example: 'whsec_…', description: 'Shown only in this answer.' })
  secret: string;
}

export class EventReceiverPage {
  @ApiProperty({ type: [EventReceiverItem], description: 'In the order of their ids.' })
  items: EventReceiverItem[];

  @ApiProperty(nextCursor)
  next: string | null;
}

/** A field that may be absent, but not null. */
const IfGiven = () => ValidateIf((_body, value) => value !== undefined);

/** The rules of the values are those of `event-receiver-rules.ts`, which name each entry that is wrong. */
class OptionalFields {
  @ApiProperty({ ...optional, ...field.format })
  @IfGiven()
  @IsIn(receiverFormats)
  format?: ReceiverFormat;

  @ApiProperty({ ...optional, ...field.types })
  @IfGiven()
  @IsArray()
  types?: string[];

  @ApiProperty({ ...optional, ...field.tenants })
  @IfGiven()
  @IsArray()
  tenants?: string[];

  @ApiProperty({ ...optional, ...field.audience })
  @IsOptional()
  @IsString()
  audience?: string | null;

  @ApiProperty({ ...optional, ...field.enabled })
  @IfGiven()
  @IsBoolean()
  enabled?: boolean;
}

export class CreateEventReceiverDto extends OptionalFields {
  @ApiProperty({ example: 'siem', pattern: '^[a-z0-9-]{1,40}$', description: 'It cannot be changed later.' })
  @IsString()
  id: string;

  @ApiProperty(field.url)
  @IsString()
  url: string;
}

export class ChangeEventReceiverDto extends OptionalFields {
  @ApiProperty({ ...optional, ...field.url })
  @IfGiven()
  @IsString()
  url?: string;
}

export class RotateReceiverSecretDto {
  @ApiProperty({
    ...{ ...optional, type: 'integer', minimum: 0, maximum: maxKeptSeconds, default: 0, example: 86_400 },
    description: 'How long requests are signed by the former secret as well.',
  })
  @IfGiven()
  @IsInt()
  @Min(0)
  @Max(maxKeptSeconds)
  keep_old_seconds?: number;
}

export class ReplayReceiverDto {
  @ApiProperty({ ...optional, format: 'date-time', description: 'Events from this moment on. Or `event`.' })
  @IfGiven()
  @Matches(timePattern, { message: 'from must be a time such as 2026-03-02T10:00:00Z' })
  from?: string;

  @ApiProperty({ ...optional, description: 'This event and the next ones, by the id of its first sending.' })
  @IfGiven()
  @IsString()
  event?: string;
}

export class ReceiverTestResult {
  @ApiProperty({ description: 'Whether the receiver has accepted the event.' })
  accepted: boolean;

  @ApiProperty({ ...nullable, example: 'status 503', description: 'Why not. Null when it has accepted the event.' })
  answer: string | null;
}
