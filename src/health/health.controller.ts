import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DatabaseClock } from '../platform/database/database-clock';
import { DatabaseConnection } from '../platform/database/database-connection';
import { OwnFormat } from '../platform/http/answers.decorator';
import { ApiExcludeController } from '../platform/http/api-docs';
import { NotRateLimited } from '../platform/limits/rate-limited.decorator';
import { Clock } from '../shared/clock';
import { Lifecycle } from './lifecycle';
import { SharedReading } from './shared-reading';

/** For the orchestrator: live is the process alone, ready is the store, its schema, and not being on the way out. */
@ApiExcludeController()
@Controller('health')
@NotRateLimited()
@OwnFormat()
export class HealthController {
  /** Anybody may ask, as often as they like; the database is not asked more often for it. */
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
    );
  }

  @Get('live')
  live(): { status: string } {
    return { status: 'ok' };
  }

  @Get('ready')
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<{ status: string; database: string }> {
    const database = await this.database.value();
    const ok = database === 'ok' && !this.lifecycle.draining;
    if (!ok) reply.status(503);
    else await this.databaseClock.warnWhenOff();
    return { status: this.lifecycle.draining ? 'draining' : ok ? 'ok' : 'unavailable', database };
  }
}
