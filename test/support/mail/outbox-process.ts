import type { MailLimits } from '../../../src/mail/mail-limits';
import { ServiceProcess } from '../servers/service-process';
import { testSettings } from '../settings';

/** A process that does nothing but send the mails of this database; it wants the build. */
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
