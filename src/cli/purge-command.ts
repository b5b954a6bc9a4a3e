import { type Command, InvalidArgumentError } from 'commander';
import { AuditTrail } from '../audit/audit-trail';
import { Database } from '../platform/database/database';
import { defaultLogDays, Retention } from '../retention/retention';
import { NicknameKeys } from '../users/nickname-keys';
import { inContext, printRecord } from './cli-context';

/** `purge`: deletes expired rows in bounded batches, for a daily job (docs/operations/retention.md). */
export function addPurgeCommand(program: Command): void {
  program
    .command('purge')
    .description('delete expired rows in bounded batches')
    .option('--logs-days <days>', 'how many days rows of login_logs and audit_logs are kept', wholeDays, defaultLogDays)
    .option('--json')
    .action(({ logsDays, json }: { logsDays: number; json?: boolean }) =>
      inContext(async (context) => {
        // The audit row is written first, because each batch commits by itself and none may lack an audit row.
        const detail = { logs_days: logsDays };
        await context.get(AuditTrail).record(context.get(Database), 'PURGE_STARTED', { detail });
        const removed = await context.get(Retention).purge(logsDays);
        await context.get(NicknameKeys).repair();
        printRecord(removed, json);
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
