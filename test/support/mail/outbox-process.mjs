import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { MailLimits, mailLimits } from '../../../dist/src/mail/mail-limits.js';
import { MailOutbox } from '../../../dist/src/mail/mail-outbox.js';
import { MailModule } from '../../../dist/src/mail/mail.module.js';
import { ConfigModule } from '../../../dist/src/settings/config.module.js';
import { configOrExit } from '../../../dist/src/settings/env.js';
import { createLogger, NestLogger } from '../../../dist/src/platform/logging/logger.js';
import { PlatformModule } from '../../../dist/src/platform/platform.module.js';

/**
 * Runs the built mail module in a separate process: the mail worker of a replica, without the web server.
 * Argument: limits that differ from the defaults, as JSON.
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
