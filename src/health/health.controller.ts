import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type ClockState, DatabaseClock } from '../platform/database/database-clock';
import { DatabaseConnection, type StoreState } from '../platform/database/database-connection';
import { OwnFormat } from '../platform/http/answers.decorator';
import { Admits, anyone } from '../platform/http/audience';
import { ApiExcludeController } from '../platform/http/api-docs';
import { NotRateLimited } from '../platform/limits/rate-limited.decorator';
import { Clock } from '../shared/clock';
import { DiskCheck } from './disk-check';
import { Lifecycle } from './lifecycle';
import { SharedReading } from '../shared/shared-reading';

/** Shorter than the usual interval between two probes of an orchestrator. */
const freshForMs = 1000;

interface Readiness {
  readonly status: 'ok' | 'draining' | 'unavailable';
  readonly database: StoreState | 'disk full';
  /** Only when it is far off. */
  readonly clock?: ClockState;
}

/**
 * Probes of an orchestrator. `live` tells that the process runs. `ready` checks the database with its schema and its disk,
 * the clock and the shutdown.
 */
@ApiExcludeController()
@Controller('health')
@NotRateLimited()
@OwnFormat()
export class HealthController {
  /** The endpoint is open to anyone, so the number of requests must not decide how often the database is queried. */
  private readonly store: SharedReading<{ readonly database: StoreState | 'disk full'; readonly clock: ClockState }>;

  constructor(
    connection: DatabaseConnection,
    databaseClock: DatabaseClock,
    disk: DiskCheck,
    private readonly lifecycle: Lifecycle,
    clock: Clock,
  ) {
    this.store = new SharedReading(
      async () => {
        const state = await connection.probe();
        const database = state === 'ok' && (await disk.isFull()) ? 'disk full' : state;
        return { database, clock: database === 'ok' ? await databaseClock.look() : 'ok' };
      },
      ({ database, clock: time }) => database === 'ok' && time !== 'far off',
      clock,
      freshForMs,
    );
  }

  @Get('live')
  @Admits(anyone)
  live(): { status: string } {
    return { status: 'ok' };
  }

  @Get('ready')
  @Admits(anyone)
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<Readiness> {
    const { database, clock } = await this.store.value();
    const ok = database === 'ok' && clock !== 'far off' && !this.lifecycle.draining;
    if (!ok) reply.status(503);
    return {
      status: this.lifecycle.draining ? 'draining' : ok ? 'ok' : 'unavailable',
      database,
      ...(clock === 'far off' ? { clock } : {}),
    };
  }
}
