import type { Command } from 'commander';
import { operatorAuthority } from '../admin/authority';
import { UserAdministration } from '../admin/user-administration';
import { UserExport } from '../admin/user-export';
import { UserOffboarding } from '../admin/user-offboarding';
import { offboardingsOf } from '../admin/user-views';
import { OffboardingReceipts } from '../offboarding/offboarding-receipts';
import { inContext, print, printRecord } from './cli-context';
import { writePieces } from './output';
import { administer } from './user-commands';

type Receipts = ReturnType<typeof offboardingsOf>;
type Receipt = NonNullable<Receipts['offboarding']>;

/** `user offboard NAME`, `user offboarding NAME` and `user export NAME` (docs/operations/leaving.md). */
export function addOffboardingCommands(user: Command): void {
  user
    .command('offboard')
    .description('let a person leave: disable the account, end everything, tell applications and the webhook receiver')
    .argument('<name>', 'login name or uid')
    .option('--json')
    .action((name: string, { json }: { json?: boolean }) =>
      administer(name, json, async ({ uid, loginName }, context) => {
        const [receipt] = await context.get(UserOffboarding).offboard(operatorAuthority, uid, 'cli');
        const { complete = false, id = null } = receipt ?? {};
        return { uid, login_name: loginName, offboarding: id, complete };
      }),
    );

  user
    .command('offboarding')
    .description('print the receipt of a person who has left; also of a deleted user, by uid')
    .argument('<name>', 'login name or uid')
    .option('--json')
    .action((name: string, { json }: { json?: boolean }) =>
      inContext(async (context) => {
        const uid = await context
          .get(UserAdministration)
          .find(name)
          .then((found) => found.uid)
          .catch((error: unknown) => ({ error }));
        const receipts = await context.get(OffboardingReceipts).of(typeof uid === 'string' ? uid : name);
        // A user who was deleted has only receipts. A name that nobody has is the problem of before.
        if (typeof uid !== 'string' && receipts.length === 0) throw uid.error;
        const view = offboardingsOf(receipts);
        if (json) printRecord({ ...view }, json);
        else printReceipts(view);
      }),
    );

  user
    .command('export')
    .description('write everything that is stored about a person as JSON, without secrets')
    .argument('<name>', 'login name or uid')
    .option('--out <file>', 'a new file that only its owner can read; without it standard output')
    .action((name: string, { out }: { out?: string }) =>
      inContext(async (context) => {
        const { uid } = await context.get(UserAdministration).find(name);
        await writePieces(out, () => context.get(UserExport).begin(operatorAuthority, uid));
      }),
    );
}

function printReceipts({ offboarding, earlier }: Receipts): void {
  if (offboarding === null) print('this user was never off-boarded');
  for (const receipt of offboarding === null ? [] : [offboarding, ...earlier]) printReceipt(receipt);
}

function printReceipt(receipt: Receipt): void {
  const { began_at, began_by, via, steps, receivers, complete, seconds, given_up, restored_at, restored_by } = receipt;
  print(`began: ${began_at} by ${began_by ?? '-'} (${via})`);
  for (const { at, step, ended } of steps) print(`  ${at}  ${step}: ${ended} ended`);
  for (const { kind, name, id, status, answer, answered_at, attempts, next_attempt_at } of receivers) {
    const what = kind === 'webhook' ? 'webhook receiver' : `application ${name ?? id ?? ''}`;
    const more = [
      answer,
      attempts === null ? null : `attempts ${attempts}`,
      next_attempt_at === null ? null : `next ${next_attempt_at}`,
    ].filter((one) => one !== null);
    print(`  ${answered_at ?? 'open'.padEnd(24)}  ${what}: ${status}${more.length > 0 ? ` (${more.join(', ')})` : ''}`);
  }
  const end = given_up > 0 ? `, ${given_up} given up` : '';
  print(complete ? `complete after ${seconds} s${end}` : 'open: a receiver has not answered yet');
  if (restored_at !== null) print(`restored: ${restored_at} by ${restored_by ?? '-'}`);
}
