import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DatabaseClock } from '../platform/database/database-clock';
import { DatabaseConnection } from '../platform/database/database-connection';
import { OwnFormat } from '../platform/http/answers.decorator';
import { ApiExcludeController } from '../platform/http/api-docs';
import { Lifecycle } from './lifecycle';

/** For the orchestrator: live is the process alone, ready is the store, its schema, and not being on the way out. */
@ApiExcludeController()
@Controller('health')
@OwnFormat()
export class HealthController {
  constructor(
    private readonly connection: DatabaseConnection,
    private readonly databaseClock: DatabaseClock,
    private readonly lifecycle: Lifecycle,
  ) {}

  @Get('live')
  live(): { status: string } {
    return { status: 'ok' };
  }

  @Get('ready')
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<{ status: string; database: string }> {
    const database = await this.connection.probe();
    const ok = database === 'ok' && !this.lifecycle.draining;
    if (!ok) reply.status(503);
    else await this.databaseClock.warnWhenOff();
    return { status: this.lifecycle.draining ? 'draining' : ok ? 'ok' : 'unavailable', database };
  }
}
