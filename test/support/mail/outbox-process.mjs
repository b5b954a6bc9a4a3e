import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { MailLimits, mailLimits } from '../../../dist/src/mail/mail-limits.js';
import { MailOutbox } from '../../../dist/src/mail/mail-outbox.js';
import { MailModule } from '../../../dist/src/mail/mail.module.js';
import { ConfigModule } from '../../../dist/src/platform/config/config.module.js';
import { configOrExit } from '../../../dist/src/platform/config/env.js';
import { createLogger, NestLogger } from '../../../dist/src/platform/logging/logger.js';
import { PlatformModule } from '../../../dist/src/platform/platform.module.js';

/**
 * The built mail module as a process of its own: what a replica does with the outbox, without a web server around it.
 * Argument: the limits that are to be different, as JSON.
 */
const limits = { ...mailLimits, ...JSON.parse(process.argv[2] ?? '{}') };
const module = await Test.createTestingModule({
  imports: [ConfigModule.with(configOrExit()), PlatformModule, MailModule],
})
  .setLogger(new NestLogger(createLogger('info')))
  .overrideProvider(MailLimits)
  .useValue(limits)
  .compile();
process.on('SIGTERM', () => void module.close().then(() => process.exit(0)));
await module.init();
module.get(MailOutbox).startSending();
process.stdout.write('ready\n');
