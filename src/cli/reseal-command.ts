import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { AuditTrail } from '../audit/audit-trail';
import type { AppConfig } from '../settings/app-config';
import { KeyRing } from '../platform/crypto/key-ring';
import type { Census } from '../platform/crypto/resealing';
import { Database } from '../platform/database/database';
import { recoveryCodesOfFormerKeys } from '../mfa/recovery-codes-left';
import { CliProblem, inContext, print, printRecord } from './cli-context';
import { censusOfAll, resealAll } from './sealed-values';

interface Options {
  dryRun?: boolean;
  json?: boolean;
}

/** Codes and captcha challenges live for minutes. An hour leaves time for a replica that ends slowly. */
const shortLivedSeconds = 3600;

/** `keys reseal`: the last but one step of a rotation of data keys (docs/operations/keys.md). */
export function addResealCommand(keys: Command): void {
  keys
    .command('reseal')
    .description('seal all lasting values again with the first DATA_ENCRYPTION_KEY')
    .option('--dry-run', 'only count values that are sealed with another key')
    .option('--json')
    .action(({ dryRun, json }: Options) =>
      inContext((context, config) => (dryRun ? count(context, json) : reseal(context, config, json))),
    );
}

async function count(context: INestApplicationContext, json: boolean | undefined): Promise<void> {
  const [database, keys] = [context.get(Database), context.get(KeyRing)];
  const { former, unreadable } = await censusOfAll(database, keys);
  const recovery_codes_of_former_keys = await recoveryCodesOfFormerKeys(database, keys);
  printRecord({ left: former, unreadable, recovery_codes_of_former_keys }, json);
}

/** Counts again at the end, to include values that a replica has meanwhile sealed with another key. */
async function reseal(context: INestApplicationContext, config: AppConfig, json: boolean | undefined): Promise<void> {
  const [database, keys] = [context.get(Database), context.get(KeyRing)];
  // The audit row is written first, because each batch commits by itself and none may lack an audit row.
  await context.get(AuditTrail).record(database, 'RESEAL_STARTED', {});
  const resealed = await resealAll(database, keys);
  const census = await censusOfAll(database, keys);
  const { former: left, unreadable } = census;
  const sums = { left, unreadable, recovery_codes_of_former_keys: await recoveryCodesOfFormerKeys(database, keys) };
  if (json) print(JSON.stringify({ resealed, ...sums }));
  else printRecord({ ...resealed, ...sums }, false);
  assertDone(census);
  if (json) return;
  const minutes = Math.ceil(Math.max(shortLivedSeconds, config.mfa.codeTtlSeconds) / 60);
  print(
    `every key except the first can be removed ${minutes} minutes after the end of the last replica that wrote with it`,
  );
}

function assertDone({ former, unreadable }: Census): void {
  if (former > 0) {
    throw new CliProblem(
      `${former} values are sealed with another key than the first, so a replica still writes with it: ` +
        'keep the key, and run this again after the roll-out',
    );
  }
  if (unreadable > 0) {
    throw new CliProblem(`${unreadable} values open with no DATA_ENCRYPTION_KEY: is a key missing from the list?`);
  }
}
