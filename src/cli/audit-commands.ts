import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { AuditTrail } from '../audit/audit-trail';
import { LogRanges } from '../audit/log-ranges';
import { auditLog, loginLog } from '../audit/log-tables';
import { Database } from '../platform/database/database';
import { version } from '../platform/version';
import { configOrExit } from '../settings/env';
import { Clock } from '../shared/clock';
import { keyIdOf } from './audit/chain';
import { exportedText, formerOf, settledSeconds } from './audit/export';
import { linesOfFile } from './audit/lines';
import { Verification } from './audit/verification';
import { CliProblem, inContext, oneOf, print, printRecord, timeOption } from './cli-context';
import { openInput } from './input';
import { writePieces } from './output';

const logs = { audit: auditLog, login: loginLog } as const;
/** The exit code for exports that are not intact. 1 says that they could not be checked. */
const notIntact = 2;

interface ExportOptions {
  log: string;
  after?: string;
  from?: string;
  to?: string;
  out?: string;
  sign?: boolean;
}

interface VerifyOptions {
  key: string[];
  unsigned?: boolean;
  json?: boolean;
}

/** `audit …`: exports of the logs for auditors, which show a later change (docs/operations/audit-export.md). */
export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('chained exports of the logs, and their verification');
  audit
    .command('export')
    .description('write the rows of a log, in which each line has the hash of the line before it')
    .option('--log <log>', Object.keys(logs).join(', '), 'audit')
    .option('--after <file>', 'continue this export; its last two lines are enough, and - is standard input')
    .option('--from <time>', 'begin at this time, for a first export')
    .option('--to <time>', 'end before this time; the last ten minutes are never exported')
    .option('--sign', 'sign the export with AUDIT_PRIVATE_KEY')
    .option('--out <file>', 'a new file that only its owner can read; without it standard output')
    .action(exportLog);
  audit
    .command('verify <files...>')
    .description('check exports in their order; needs no settings and no database')
    .option(
      '--key <file>',
      'the public key in PEM; may be repeated',
      (file: string, all: string[]) => [...all, file],
      [],
    )
    .option('--unsigned', 'accept exports that are not signed')
    .option('--json')
    .action(verifyFiles);
  audit
    .command('public-key')
    .description('print the public key of AUDIT_PRIVATE_KEY in PEM')
    .option('--json')
    .action(({ json }: { json?: boolean }) => {
      const key = createPublicKey(signingKey(configOrExit().auditKey.privateKey));
      const pem = key.export({ type: 'spki', format: 'pem' }).toString();
      if (json) printRecord({ key_id: keyIdOf(key), public_key: pem }, json);
      else process.stdout.write(pem);
    });
  audit
    .command('keygen')
    .description('print a new AUDIT_PRIVATE_KEY')
    .action(() => {
      const { privateKey } = generateKeyPairSync('ed25519');
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim();
      print(`AUDIT_PRIVATE_KEY=${pem.replaceAll('\n', '\\n')}`);
    });
}

async function exportLog({ out, ...options }: ExportOptions): Promise<void> {
  const log = logs[oneOf('--log', options.log, Object.keys(logs) as (keyof typeof logs)[])];
  if (options.after !== undefined && options.from !== undefined)
    throw new CliProblem('--after tells where the export begins: leave --from out');
  const from = options.from === undefined ? undefined : timeOption('--from', options.from);
  const until = options.to === undefined ? undefined : timeOption('--to', options.to);
  if (from !== undefined && until !== undefined && until <= from)
    throw new CliProblem('--to must be later than --from');
  await inContext(async (context, { auditKey }) => {
    const key = options.sign ? signingKey(auditKey.privateKey) : undefined;
    const former =
      options.after === undefined
        ? undefined
        : await formerOf(openInput(options.after) as AsyncIterable<Buffer>, log, key);
    const clock = context.get(Clock, { strict: false });
    const settled = clock.secondsFromNow(-settledSeconds);
    const to = until !== undefined && until < settled ? until : settled;
    const detail = { log: log.table, format: 'chain', signed: key !== undefined, after_id: former?.through_id ?? 0 };
    const whole = await writePieces(out, async () => {
      await context.get(AuditTrail).record(context.get(Database), 'LOG_EXPORTED', { detail });
      return exportedText(context.get(LogRanges), { log, former, from, to, key, version, madeAt: clock.now() });
    });
    if (!whole) throw new CliProblem('the reader has closed the pipe: the export is not whole');
  });
}

async function verifyFiles(files: readonly string[], { key, unsigned = false, json }: VerifyOptions): Promise<void> {
  if (key.length === 0 && !unsigned) throw new CliProblem('give the public key with --key, or --unsigned');
  const verification = new Verification(key.map(publicKey), unsigned);
  for (const file of files) await verification.check(file, linesOfFile(file));
  const { files: checked, problems, notes } = verification;
  const intact = problems.length === 0;
  if (json) print(JSON.stringify({ intact, files: checked, problems, notes }));
  else {
    for (const { file, rows, first, last, ids_without_row, signed_with } of checked) {
      const range = first === null ? '' : `, ${first.id} to ${last?.id} (${first.created_at} to ${last?.created_at})`;
      const gaps = ids_without_row ? `, ${ids_without_row} ids without a row` : '';
      print(
        `${file}: ${rows} rows${range}${gaps}, ${signed_with === null ? 'not signed' : `signed with ${signed_with}`}`,
      );
    }
    for (const { file, line, text } of notes) print(`note: ${file}:${line}: ${text}`);
    for (const { file, line, text } of problems) print(`${file}:${line}: ${text}`);
    if (intact) print('intact');
  }
  if (!intact) throw new CliProblem(`not intact: ${problems.length} problems`, notIntact);
}

function signingKey(key: KeyObject | undefined): KeyObject {
  if (key === undefined) throw new CliProblem('AUDIT_PRIVATE_KEY is not set: make one with audit keygen');
  return key;
}

function publicKey(file: string): KeyObject {
  const pem = readFileSync(file, 'utf8');
  try {
    // A private key must not lie where exports are checked, and createPublicKey would accept it.
    if (!pem.includes('PRIVATE')) {
      const key = createPublicKey(pem);
      if (key.asymmetricKeyType === 'ed25519') return key;
    }
  } catch {
    // The message of this error could quote the file.
  }
  throw new CliProblem(`${file} is not a public key of the type Ed25519 in PEM (audit public-key prints it)`);
}
