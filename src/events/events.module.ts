import { Global, Module } from '@nestjs/common';
import { LogSink } from '../audit/log-sink';
import { AppConfig } from '../platform/config/app-config';
import { EventLimits, eventLimits } from './event-limits';
import { EventOutbox } from './event-outbox';
import { EventReplay } from './event-replay';
import { KeptEventRows } from './kept-events';
import { LogEvents } from './log-events';
import { EventAttempt } from './outbox/event-attempt';
import { EventRows } from './outbox/event-rows';
import { EventStreams } from './outbox/event-streams';
import { EventWorker } from './outbox/event-worker';
import { AuditLines } from './stream/audit-lines';
import { WebhookTest } from './webhook-test';
import { Webhook } from './webhook/webhook';

/** Global, so that AuditTrail and LoginJournal find the sink, whose module has a higher rank than theirs. */
@Global()
@Module({
  providers: [
    { provide: EventLimits, useValue: eventLimits },
    { provide: AuditLines, inject: [AppConfig], useFactory: (config: AppConfig) => new AuditLines(config) },
    { provide: LogSink, useClass: LogEvents },
    EventAttempt,
    EventOutbox,
    EventReplay,
    EventRows,
    EventStreams,
    EventWorker,
    KeptEventRows,
    Webhook,
    WebhookTest,
  ],
  exports: [LogSink, EventOutbox, EventReplay, KeptEventRows, WebhookTest],
})
export class EventsModule {}
