import { Injectable, Logger } from '@nestjs/common';
import { isFullDisk } from './store-reason';

/** How long a refused write counts, before another one is tried. */
const keptMs = 5000;

/**
 * Whether the database has refused a write because its disk is full. Reads go on meanwhile, and so do writes that need no
 * new page, so only the refusal of a statement tells.
 */
@Injectable()
export class DiskSpace {
  private readonly logger = new Logger('database');
  private refusedAt: number | undefined;

  /** A statement of the service has failed. */
  failed(error: unknown): void {
    if (!isFullDisk(error)) return;
    if (this.refusedAt === undefined) {
      this.logger.error('the database has no space left on its disk: not ready until it takes rows again');
    }
    this.refusedAt = performance.now();
  }

  /**
   * For readiness. Costs nothing as long as no write was refused.
   * @param write makes a write that needs space, and undoes it
   */
  async isFull(write: () => Promise<void>): Promise<boolean> {
    if (this.refusedAt === undefined) return false;
    if (performance.now() - this.refusedAt < keptMs) return true;
    try {
      await write();
    } catch (error) {
      this.failed((error as Error).cause ?? error);
      return true;
    }
    this.refusedAt = undefined;
    this.logger.log('the database takes rows again');
    return false;
  }
}
