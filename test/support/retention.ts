import { CaptchaReceipts } from '../../src/captcha/captcha-receipt.repository';
import { EventOutbox } from '../../src/events/event-outbox';
import { MailOutbox } from '../../src/mail/mail-outbox';
import { UserTraces } from '../../src/platform/database/user-traces';
import { Retention } from '../../src/retention/retention';
import { SessionTraces } from '../../src/sessions/session-traces';
import { UserTombstones } from '../../src/users/user-tombstones';
import type { TestService } from './app';

/** What the command `purge` runs, on the database and at the time of a service. */
export function retentionOf({ app, database, clock }: TestService, sessions = app.get(SessionTraces)): Retention {
  const [tombstones, traces] = [app.get(UserTombstones), app.get(UserTraces)];
  const [receipts, mails, events] = [app.get(CaptchaReceipts), app.get(MailOutbox), app.get(EventOutbox)];
  return new Retention(database, receipts, mails, events, sessions, tombstones, traces, clock);
}
