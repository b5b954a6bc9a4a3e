import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { withOwnTime } from '../platform/database/database-waits';
import { asDomainError } from '../platform/http/error-envelope.filter';
import {
  accessTokenRevoked,
  type CatalogueEntry,
  identityTaken,
  internalError,
  requestInvalid,
} from '../shared/errors/error-catalogue';
import { DomainError } from '../shared/errors/domain-error';
import { AccountProblem } from '../users/user-accounts';
import { AdminChanges } from './admin-changes';
import type { Administrator } from './authority';
import { type CsvBounds, readCsv } from './import-rows';
import { fileColumns } from './import/imported-user';
import { mostPlanned, type PlannedUser, plannedUser } from './planned-users';
import { forceHint } from './user-administration';
import { type ImportedRow, UserImport } from './user-import';

/** A row that made no user, and why. */
export interface RefusedRow {
  /** The line of the file on which the row ends. */
  readonly line: number;
  readonly entry: CatalogueEntry;
  readonly reason: string;
}

/** Each row that is not refused has made a user, or would make one. */
export interface FileReport {
  readonly rows: number;
  readonly created: number;
  readonly refused: readonly RefusedRow[];
  /** Of a dry run: the first users that would be made. */
  readonly planned?: readonly (PlannedUser & Pick<RefusedRow, 'line'>)[];
}

const mostRows = 50_000;
const chunkBytes = 65_536;
/** So many rows go in between two questions whether the caller still has the rights. */
const askedRows = 100;
const notTried = 'the import ended before this row: import the file again';
const taken = 'the login name, the uid or the e-mail address is taken';

/** A file of users from an administrator (docs/spec/extensions.md#o), row by row like `user import`. */
@Injectable()
export class UserFile {
  private readonly logger = new Logger('admin');

  constructor(
    private readonly imports: UserImport,
    private readonly changes: AdminChanges,
  ) {}

  /**
   * Reads the file as a whole before the first user is made, so that a file that cannot be read makes none.
   * @returns the lines of its rows
   * @throws DomainError COMMON_400001
   */
  async check(file: Buffer): Promise<number[]> {
    const lines: number[] = [];
    try {
      for await (const { line = 0 } of readCsv(chunksOf(file), bounds)) {
        lines.push(line);
        if (lines.length > mostRows) throw new AccountProblem(`the file must have at most ${mostRows} rows`);
      }
    } catch (error) {
      if (!(error instanceof AccountProblem)) throw error;
      throw new DomainError(requestInvalid, { fields: { body: [error.message] } });
    }
    return lines;
  }

  /**
   * When the database fails or the rights of the caller end, the remaining rows are refused without being tried. The import also
   * ends between two rows when the client leaves. Importing the file again makes the users that are missing.
   * @param lines of `check`
   * @param isAdmitted whether the session of the caller goes on with its rights. It is asked again and again, because the end of one
   *   session changes nothing that the transaction of a row compares
   */
  async run(
    by: Administrator,
    file: Buffer,
    lines: readonly number[],
    dryRun: boolean,
    isAdmitted: () => Promise<boolean>,
  ): Promise<FileReport> {
    if (dryRun) await this.recordCheck(by, lines.length);
    const refused: RefusedRow[] = [];
    const planned: NonNullable<FileReport['planned']>[number][] = [];
    let done = 0;
    const options = { by, dryRun, rules: 'policy', ages: { unknown: 0, expired: 0 }, width: 2 } as const;
    const rows = this.imports.run(readCsv(chunksOf(file), bounds), options);
    try {
      for (;;) {
        by.actor.client.signal.throwIfAborted();
        if (done % askedRows === 0 && !(await withOwnTime(isAdmitted))) throw new DomainError(accessTokenRevoked);
        // Each row has the waiting time of a whole request.
        const next = await withOwnTime(() => rows.next());
        if (next.done === true) break;
        done += 1;
        const refusal = refusalOf(next.value);
        if (refusal !== undefined) refused.push(refusal);
        const { row, user } = next.value;
        if (dryRun && user !== undefined && planned.length < mostPlanned)
          planned.push({ line: row.line ?? 0, ...plannedUser(user) });
      }
    } catch (error) {
      const { entry, cause } = asDomainError(error);
      if (entry === internalError) {
        this.logger.error({ requestId: by.actor.client.requestId, err: cause ?? error }, 'an import failed');
      }
      for (const line of lines.slice(done)) refused.push({ line, entry, reason: notTried });
    } finally {
      await rows.return(undefined);
    }
    const report = { rows: lines.length, created: lines.length - refused.length, refused };
    return dryRun ? { ...report, planned } : report;
  }

  /** A dry run tells which names are taken, also in other tenants, so its audit row is committed before the first name is looked up. */
  private recordCheck(by: Administrator, rows: number): Promise<void> {
    return this.changes.make(by, ({ record }) => record('USER_IMPORT_CHECKED', { detail: { rows } }));
  }
}

function refusalOf({ row: { line = 0 }, outcome }: ImportedRow): RefusedRow | undefined {
  if (outcome === 'created') return undefined;
  if (outcome === 'exists' || outcome.entry === identityTaken) return { line, entry: identityTaken, reason: taken };
  return { line, entry: outcome.entry, reason: withoutValues(outcome.message) };
}

/** A row whose columns are shifted can have a password in any of them, so no reason quotes a value. */
const withoutValues = (message: string): string => message.replace(forceHint, '').replace(/ "(?:[^"\\]|\\.)*"/g, '');

const bounds: CsvBounds = {
  largestRow: chunkBytes,
  assertColumns: (names) => {
    // Not the name: the first line of a file without names is a row, and can have a password.
    const unknown = names.findIndex((name) => !fileColumns.has(name));
    if (unknown >= 0) {
      throw new AccountProblem(
        `the first line must name the columns, and the name of column ${unknown + 1} is not known: use ${[...fileColumns].join(', ')}`,
      );
    }
    if (new Set(names).size < names.length) throw new AccountProblem('the first line must name each column once');
    if (!names.includes('login_name')) throw new AccountProblem('the first line must name the column login_name');
  },
};

/** In parts, so that the parser does not hold up the event loop. */
async function* chunksOf(file: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < file.length; at += chunkBytes) {
    yield file.subarray(at, at + chunkBytes);
    await delay(0);
  }
}
