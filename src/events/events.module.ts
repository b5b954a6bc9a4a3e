import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { LogSink } from '../audit/log-sink';
import { EventSettings } from '../audit/event-settings';
import { LogExport } from '../platform/logging/log-export';
import { EventLimits, eventLimits } from './event-limits';
import { EventOutbox } from './event-outbox';
import { EventReceivers } from './event-receivers';
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
import { ReceiverDelivery } from './receiver-delivery';
import { ReceiverHealth } from './receiver-health';
import { ReceiverLimits, receiverLimits } from './receiver-limits';
import { EventReceiver } from './receivers/event-receiver.entity';
import { EventReceiverRows } from './receivers/event-receivers.repository';
import { ReceiverEvent, ReceiverPlaces } from './receivers/receiver-event.entity';
import { ReceiverEvents } from './receivers/receiver-events.repository';
import { ReceiverPost } from './receivers/receiver-post';
import { ReceiverSecrets } from './receivers/receiver-secrets';
import { ReceiverTurn } from './receivers/receiver-turn';
import { ReceiverWorker } from './receivers/receiver-worker';
import { AuditLines } from './stream/audit-lines';
import { WebhookTest } from './webhook-test';

const doors = [EventOutbox, EventReplay, KeptEventRows, WebhookTest, EventReceivers, ReceiverDelivery, ReceiverHealth];

/** Global, so that AuditTrail and LoginJournal find the sink, whose module has a higher rank than theirs. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([OutboxEvent, EventStream, EventReceiver, ReceiverEvent, ReceiverPlaces])],
  providers: [
    { provide: EventLimits, useValue: eventLimits },
    { provide: ReceiverLimits, useValue: receiverLimits },
    {
      provide: AuditLines,
      inject: [EventSettings, { token: LogExport, optional: true }],
      useFactory: (settings: EventSettings, copies?: LogExport) => new AuditLines(settings, undefined, copies),
    },
    { provide: LogSink, useClass: LogEvents },
    ...[EventRows, EventStreams, EventWorker, EventAttempt, Webhook],
    ...[EventReceiverRows, ReceiverEvents, ReceiverPost, ReceiverSecrets, ReceiverTurn, ReceiverWorker],
    ...doors,
  ],
  exports: [LogSink, ...doors],
})
export class EventsModule {}
