import { Controller, Get, HttpCode, Post, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiTags } from '../../platform/http/api-docs';
import type { ClientInfo } from '../../shared/client-info';
import {
  accessTokenExpired,
  accessTokenInvalid,
  accessTokenRevoked,
  freshLoginRequired,
} from '../../shared/errors/error-catalogue';
import { Answers } from '../../platform/http/answers.decorator';
import { Client } from '../../platform/http/client-info.decorator';
import { type CurrentSession, Session } from '../../tokens/current-session';
import { AccessTokenGuard } from '../../tokens/tokens.guard';
import { YoungSession } from '../../tokens/young-session.guard';
import { RecoveryCodes } from '../recovery-codes';
import { NewRecoveryCodes } from '../recovery/new-recovery-codes';
import { RecoveryCodesResponse, RecoveryCodeSummaryResponse } from './recovery-codes.dto';

/** The recovery codes of the logged-in user (docs/spec/extensions.md#recovery-codes). */
@ApiTags('second factor')
@Controller('recovery-codes')
@ApiBearerAuth('access_token')
export class RecoveryCodesController {
  constructor(
    private readonly codes: RecoveryCodes,
    private readonly newCodes: NewRecoveryCodes,
  ) {}

  @Post()
  @HttpCode(200)
  @YoungSession()
  @ApiOperation({
    operationId: 'createRecoveryCodes',
    summary: 'Make new recovery codes, which replace all earlier ones',
  })
  @Answers(RecoveryCodesResponse, accessTokenInvalid, accessTokenExpired, accessTokenRevoked, freshLoginRequired)
  async create(@Session() session: CurrentSession, @Client() client: ClientInfo): Promise<RecoveryCodesResponse> {
    return { codes: await this.newCodes.make(session, client) };
  }

  @Get()
  @UseGuards(AccessTokenGuard)
  @ApiOperation({ operationId: 'getRecoveryCodes', summary: 'Get how many recovery codes are left' })
  @Answers(RecoveryCodeSummaryResponse, accessTokenInvalid, accessTokenExpired, accessTokenRevoked)
  async summary(@Session() { user }: CurrentSession): Promise<RecoveryCodeSummaryResponse> {
    const { left, createdAt } = await this.codes.summary(user.uid);
    return { left, created_at: createdAt === null ? null : createdAt.toISOString() };
  }
}
