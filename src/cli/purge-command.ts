import { type Command, InvalidArgumentError } from 'commander';
import { AuditTrail } from '../audit/audit-trail';
import { Database } from '../platform/database/database';
import { AddressShortening } from '../retention/address-shortening';
import { defaultLogDays, Retention } from '../retention/retention';
import { NicknameKeys } from '../users/nickname-keys';
import { UserWords } from '../users/user-words.repository';
import { inContext, printRecord } from './cli-context';

/** `purge`: deletes expired rows in bounded batches, for a daily job (docs/operations/retention.md). */
export function addPurgeCommand(program: Command): void {
  program
    .command('purge')
    .description('delete expired rows in bounded batches, and shorten addresses with LOG_IP_DAYS')
    .option('--logs-days <days>', 'how many days rows of login_logs and audit_logs are kept', wholeDays, defaultLogDays)
    .option('--json')
    .action(({ logsDays, json }: { logsDays: number; json?: boolean }) =>
      inContext(async (context) => {
        // The audit row is written first, because each batch commits by itself and none may lack an audit row.
        const detail = { logs_days: logsDays };
        await context.get(AuditTrail).record(context.get(Database), 'PURGE_STARTED', { detail });
        const removed = await context.get(Retention).purge(logsDays);
        await context.get(NicknameKeys).repair();
        await context.get(UserWords).repair();
        const shortened_addresses = await context.get(AddressShortening).shorten();
        // An auditor learns from this row how many rows of the logs the retention has removed (docs/operations/audit-export.md).
        const { audit_logs = 0, login_logs = 0 } = removed;
        const done = { ...detail, audit_logs, login_logs };
        await context.get(AuditTrail).record(context.get(Database), 'PURGE_FINISHED', { detail: done });
        printRecord(shortened_addresses === undefined ? removed : { ...removed, shortened_addresses }, json);
      }),
    );
}

function wholeDays(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > 36_500) {
    throw new InvalidArgumentError('must be a whole number from 1 to 36500');
  }
  return number;
}
