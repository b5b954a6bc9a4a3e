import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import type { ClientInfo } from '../../shared/client-info';
import { AnswersTo } from '../../platform/http/audience';
import { Client } from '../../platform/http/client-info.decorator';
import { accessToken, youngSession } from '../../sessions/audiences';
import { type CurrentSession, Session } from '../../sessions/current-session';
import { RecoveryCodes } from '../recovery-codes';
import { RecoveryCodesResponse, RecoveryCodeSummaryResponse } from './mfa.dto';

/** The recovery codes of the logged-in user (docs/spec/extensions.md#recovery-codes). */
@ApiTags('second factor')
@Controller('recovery-codes')
export class RecoveryCodesController {
  constructor(private readonly codes: RecoveryCodes) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    operationId: 'createRecoveryCodes',
    summary: 'Make new recovery codes, which replace all earlier ones',
  })
  @AnswersTo(youngSession, RecoveryCodesResponse)
  async create(@Session() session: CurrentSession, @Client() client: ClientInfo): Promise<RecoveryCodesResponse> {
    return { codes: await this.codes.make(session, client) };
  }

  @Get()
  @ApiOperation({ operationId: 'getRecoveryCodes', summary: 'Get how many recovery codes are left' })
  @AnswersTo(accessToken, RecoveryCodeSummaryResponse)
  async summary(@Session() { user }: CurrentSession): Promise<RecoveryCodeSummaryResponse> {
    const { left, createdAt } = await this.codes.summary(user.uid);
    return { left, created_at: createdAt === null ? null : createdAt.toISOString() };
  }
}
