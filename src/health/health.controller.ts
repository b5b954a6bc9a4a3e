import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DatabaseClock } from '../platform/database/database-clock';
import { DatabaseConnection } from '../platform/database/database-connection';
import { OwnFormat } from '../platform/http/answers.decorator';
import { Admits, anyone } from '../platform/http/audience';
import { ApiExcludeController } from '../platform/http/api-docs';
import { NotRateLimited } from '../platform/limits/rate-limited.decorator';
import { Clock } from '../shared/clock';
import { Lifecycle } from './lifecycle';
import { SharedReading } from '../shared/shared-reading';

/** Shorter than the usual interval between two probes of an orchestrator. */
const freshForMs = 1000;

/** Probes of an orchestrator. `live` tells that the process runs; `ready` checks database, schema and shutdown. */
@ApiExcludeController()
@Controller('health')
@NotRateLimited()
@OwnFormat()
export class HealthController {
  /** The endpoint is open to anyone, so the number of requests must not decide how often the database is queried. */
  private readonly database: SharedReading<Awaited<ReturnType<DatabaseConnection['probe']>>>;

  constructor(
    connection: DatabaseConnection,
    private readonly databaseClock: DatabaseClock,
    private readonly lifecycle: Lifecycle,
    clock: Clock,
  ) {
    this.database = new SharedReading(
      () => connection.probe(),
      (state) => state === 'ok',
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
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<{ status: string; database: string }> {
    const database = await this.database.value();
    const ok = database === 'ok' && !this.lifecycle.draining;
    if (!ok) reply.status(503);
    else await this.databaseClock.warnWhenOff();
    return { status: this.lifecycle.draining ? 'draining' : ok ? 'ok' : 'unavailable', database };
  }
}
