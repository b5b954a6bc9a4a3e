import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { type ToldRow, type ToldTable, toldRows } from '../platform/database/told-rows';
import { UserTraces } from '../platform/database/user-traces';
import { Clock } from '../shared/clock';
import { AdminChanges } from './admin-changes';
import type { Authority } from './authority';
import { TargetUsers } from './target-users';

/** Characters that are handed on at once. */
const pieceLength = 16_384;

/**
 * Everything that is stored about a person, as one JSON document (docs/spec/extensions.md#export, ADR 0039). The owner of each
 * table tells its part. Secrets and hashes are left out, and their existence is told. Memory holds one page of one table.
 */
@Injectable()
export class UserExport {
  constructor(
    private readonly changes: AdminChanges,
    private readonly targets: TargetUsers,
    private readonly traces: UserTraces,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * The audit row is committed before the first piece is made.
   * @param goOn called before each read of the database; throws when the reader may not go on
   * @throws AccountProblem USER_404001; AUTH_403001 for an administrator who is not the caller's to change
   */
  async begin(
    by: Authority,
    uid: string,
    goOn: () => Promise<void> = () => Promise.resolve(),
  ): Promise<AsyncGenerator<string>> {
    await this.changes.make(by, async ({ tx, record }) => {
      await this.targets.lock(tx, by, uid);
      await record('USER_EXPORTED', { userId: uid });
    });
    return this.pieces(uid, goOn);
  }

  private async *pieces(uid: string, goOn: () => Promise<void>): AsyncGenerator<string> {
    yield `{\n"uid": ${JSON.stringify(uid)},\n"exported_at": ${JSON.stringify(this.clock.now())}`;
    for (const told of this.traces.told) {
      await goOn();
      yield `,\n${JSON.stringify(told.section ?? told.table)}: [`;
      yield* this.section(told, uid, goOn);
      yield ']';
    }
    yield '\n}\n';
  }

  private async *section(told: ToldTable, uid: string, goOn: () => Promise<void>): AsyncGenerator<string> {
    let isFirst = true;
    for await (const rows of toldRows(this.database, told, uid)) {
      await goOn();
      yield* joined(rows, isFirst);
      isFirst = false;
    }
  }
}

function* joined(rows: readonly ToldRow[], isFirst: boolean): Generator<string> {
  let piece = '';
  for (const [n, row] of rows.entries()) {
    piece += `${isFirst && n === 0 ? '' : ','}\n${JSON.stringify(row)}`;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}
