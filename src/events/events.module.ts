import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { LogSink } from '../audit/log-sink';
import { EventSettings } from '../audit/event-settings';
import { EventLimits, eventLimits } from './event-limits';
import { EventOutbox } from './event-outbox';
import { EventReplay } from './event-replay';
import { KeptEventRows } from './kept-events';
import { LogEvents } from './log-events';
import { EventAttempt } from './outbox/event-attempt';
import { EventStream } from './outbox/event-stream.entity';
import { EventStreams } from './outbox/event-stream.repository';
import { EventWorker } from './outbox/event-worker';
import { OutboxEvent } from './outbox/outbox-event.entity';
import { EventRows } from './outbox/outbox-event.repository';
import { Webhook } from './outbox/webhook';
import { AuditLines } from './stream/audit-lines';
import { WebhookTest } from './webhook-test';

const doors = [EventOutbox, EventReplay, KeptEventRows, WebhookTest];

/** Global, so that AuditTrail and LoginJournal find the sink, whose module has a higher rank than theirs. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([OutboxEvent, EventStream])],
  providers: [
    { provide: EventLimits, useValue: eventLimits },
    { provide: AuditLines, inject: [EventSettings], useFactory: (settings: EventSettings) => new AuditLines(settings) },
    { provide: LogSink, useClass: LogEvents },
    ...[EventRows, EventStreams, EventWorker, EventAttempt, Webhook],
    ...doors,
  ],
  exports: [LogSink, ...doors],
})
export class EventsModule {}
