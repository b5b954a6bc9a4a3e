import { Logger } from '@nestjs/common';
import DataLoader from 'dataloader';
import type { Clock } from '../../shared/clock';
import type { Random } from '../../shared/random';
import type { Database } from '../../platform/database/database';
import { filledUp } from '../../platform/database/statement-keys';
import type { Proof } from './proof-reader';
import { UsedProofs } from './used-proofs';

type Use = Pick<Proof, 'id' | 'forgottenAfter'>;

/** More proofs at once are sent as several statements. A power of two, see `filledUp`. */
const mostAtOnce = 32;
const purgeEveryMs = 60_000;
const purgedAtOnce = 2000;

/**
 * The memory of replicas without Redis: the table `used_proofs`, on MySQL and MariaDB. Requests in one iteration of the
 * event loop share one statement. A row lives for three minutes, so the table stays small: each replica removes what has
 * expired.
 */
export class StoredUsedProofs extends UsedProofs {
  private readonly logger = new Logger('proofs');
  private lastPurge: number;
  private readonly uses = new DataLoader<Use, boolean>((all) => this.useAll(all), {
    cache: false,
    maxBatchSize: mostAtOnce,
    batchScheduleFn: setImmediate,
  });

  constructor(
    private readonly database: Database,
    private readonly random: Random,
    private readonly clock: Clock,
  ) {
    super();
    this.lastPurge = clock.now().getTime();
  }

  use(proof: Use): Promise<boolean> {
    this.purgeSometimes();
    return this.uses.load(proof);
  }

  /**
   * Race: the same proof at two replicas. The first INSERT takes the primary key. The other one waits for its commit, and IGNORE
   * then leaves the row out. The rows are in the order of their key, so two statements never wait for each other.
   */
  private async useAll(uses: readonly Use[]): Promise<boolean[]> {
    // The same proof twice in one statement: the first one of them competes.
    const first = new Map(uses.map((use) => [use.id, use] as const).reverse());
    const rows = filledUp([...first.values()].sort((one, other) => (one.id < other.id ? -1 : 1)));
    const claim = this.random.bytes(6).readUIntBE(0, 6);
    const inserted = await this.database.affected(
      `INSERT IGNORE INTO used_proofs (id, claim, expires) VALUES ${rows.map(() => '(?, ?, ?)').join(', ')}`,
      rows.flatMap(({ id, forgottenAfter }) => [id, claim, forgottenAfter]),
    );
    const won = inserted === first.size ? new Set(first.keys()) : await this.claimed(rows, claim);
    return uses.map((use) => first.get(use.id) === use && won.has(use.id));
  }

  private async claimed(rows: readonly Use[], claim: number): Promise<Set<string>> {
    const own = await this.database.rows<{ id: string }>(
      `SELECT id FROM used_proofs WHERE id IN (${rows.map(() => '?').join(', ')}) AND claim = ?`,
      [...rows.map(({ id }) => id), claim],
    );
    return new Set(own.map(({ id }) => id));
  }

  /** In the background: no request waits, and what fails is left to the next time or to another replica. */
  private purgeSometimes(): void {
    const now = this.clock.now().getTime();
    if (now - this.lastPurge < purgeEveryMs) return;
    this.lastPurge = now;
    this.purge().catch((err: unknown) => this.logger.warn({ err }, 'used proofs that have expired were not removed'));
  }

  /** Races with another replica: both may remove the same rows, and one of them finds fewer. */
  private async purge(): Promise<void> {
    const expired = `DELETE FROM used_proofs WHERE expires < ? ORDER BY expires LIMIT ${purgedAtOnce}`;
    while ((await this.database.affected(expired, [this.clock.now()])) === purgedAtOnce);
  }
}
