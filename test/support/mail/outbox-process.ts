import type { MailLimits } from '../../../src/mail/mail-limits';
import { ServiceProcess } from '../servers/service-process';
import { testSettings } from '../settings';

/** Starts a process that only sends the mails of this database. It needs the built program. */
export function startOutboxProcess(
  databaseUrl: string,
  settings: Record<string, string>,
  limits: Partial<MailLimits> = {},
): Promise<ServiceProcess> {
  return ServiceProcess.start({
    script: 'test/support/mail/outbox-process.mjs',
    args: [JSON.stringify(limits)],
    env: { ...testSettings, DATABASE_URL: databaseUrl, ...settings },
    ready: /^ready$/,
  });
}
