import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { AuditModule } from '../../../dist/src/audit/audit.module.js';
import { EventLimits, eventLimits } from '../../../dist/src/events/event-limits.js';
import { EventOutbox } from '../../../dist/src/events/event-outbox.js';
import { ReceiverDelivery } from '../../../dist/src/events/receiver-delivery.js';
import { ReceiverLimits, receiverLimits } from '../../../dist/src/events/receiver-limits.js';
import { EventsModule } from '../../../dist/src/events/events.module.js';
import { ConfigModule } from '../../../dist/src/settings/config.module.js';
import { configOrExit } from '../../../dist/src/settings/env.js';
import { createLogger, NestLogger } from '../../../dist/src/platform/logging/logger.js';
import { PlatformModule } from '../../../dist/src/platform/platform.module.js';

/**
 * Runs the built modules of the events in a separate process: the sender of a replica, without the web server.
 * Arguments: limits that differ from the defaults, as JSON, of the receiver of WEBHOOK_URL and of further receivers.
 */
const limits = { ...eventLimits, ...JSON.parse(process.argv[2] ?? '{}') };
const ofReceivers = { ...receiverLimits, ...JSON.parse(process.argv[3] ?? '{}') };
const imports = [ConfigModule.with(configOrExit()), PlatformModule, AuditModule, EventsModule];
const module = await Test.createTestingModule({ imports })
  .setLogger(new NestLogger(createLogger('info')))
  .overrideProvider(EventLimits)
  .useValue(limits)
  .overrideProvider(ReceiverLimits)
  .useValue(ofReceivers)
  .compile();
process.on('SIGTERM', () => void module.close().then(() => process.exit(0)));
await module.init();
module.get(EventOutbox).start();
module.get(ReceiverDelivery).start();
process.stdout.write('ready\n');
