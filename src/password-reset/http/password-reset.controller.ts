import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '../../platform/http/api-docs';
import type { ClientInfo } from '../../shared/client-info';
import {
  emailNotFound,
  passwordPolicyViolated,
  passwordReused,
  passwordsDiffer,
  resetRequestedTooOften,
  resetRequestExpired,
  resetRequestUsed,
  resetTokenUnknown,
} from '../../shared/errors/error-catalogue';
import { languageOf } from '../../shared/languages';
import { PrivacySettings } from '../../users/account-settings';
import { inSteps } from '../../platform/http/answer-steps';
import { AnswersTo, anyone } from '../../platform/http/audience';
import { Client } from '../../platform/http/client-info.decorator';
import { bodyField, pathParameter, RateLimited } from '../../platform/limits/rate-limited.decorator';
import { ChangePasswordService } from '../links/change-password.service';
import { PasswordChangeRequests } from '../password-change-requests';
import { PasswordPolicySource } from '../password-policy-source';
import { ForgotPasswordService } from '../links/forgot-password.service';
import { requestStatus } from '../persistence/password-change-request.entity';
import {
  ChangePasswordDto,
  ChangeRequestResponse,
  changeRequestResponse,
  ForgetPasswordDto,
  LiveRequestResponse,
  PasswordChangedResponse,
  PasswordPolicyResponse,
} from './password-reset.dto';

@ApiTags('password reset')
@Controller()
export class PasswordResetController {
  constructor(
    private readonly forgotten: ForgotPasswordService,
    private readonly requests: PasswordChangeRequests,
    private readonly changes: ChangePasswordService,
    private readonly policies: PasswordPolicySource,
    private readonly settings: PrivacySettings,
  ) {}

  @Post('forget-password')
  @HttpCode(200)
  @RateLimited('forgotPassword', bodyField('email'))
  @ApiOperation({ operationId: 'forgetPassword', summary: 'Request a reset link by e-mail' })
  @AnswersTo(anyone, ChangeRequestResponse, emailNotFound, resetRequestedTooOften)
  async forgetPassword(@Body() body: ForgetPasswordDto, @Client() client: ClientInfo): Promise<ChangeRequestResponse> {
    const language = languageOf(body.lang) ?? client.language;
    const request = () => this.forgotten.request(body.email, language, client);
    return changeRequestResponse(await inSteps(this.settings.hideAccountExistence, request));
  }

  @Get('user/change-pwd-req/:uid')
  @RateLimited('other', pathParameter('uid'))
  @ApiOperation({
    operationId: 'getPasswordChangeRequest',
    summary: 'Get the state of a reset link without using it',
  })
  @ApiParam({ name: 'uid', description: 'The reset token.', schema: { type: 'string', format: 'uuid' } })
  @AnswersTo(anyone, LiveRequestResponse, resetTokenUnknown, resetRequestExpired, resetRequestUsed)
  async getChangeRequest(@Param('uid') token: string): Promise<LiveRequestResponse> {
    const request = await this.requests.find(token);
    return { ...changeRequestResponse({ ...request, status: requestStatus.pending }), login_name: request.loginName };
  }

  @Post('user/change-pwd-by-req')
  @HttpCode(200)
  @RateLimited('other', bodyField('req_uid'))
  @ApiOperation({ operationId: 'changePasswordByRequest', summary: 'Set a new password with a reset link' })
  @AnswersTo(
    anyone,
    PasswordChangedResponse,
    passwordsDiffer,
    passwordPolicyViolated,
    resetTokenUnknown,
    resetRequestExpired,
    resetRequestUsed,
    passwordReused,
  )
  async changePassword(
    @Body() body: ChangePasswordDto,
    @Client() client: ClientInfo,
  ): Promise<PasswordChangedResponse> {
    const { req_uid: token, password, confirm_password: confirmation } = body;
    await this.changes.change({ token, password, confirmation }, client);
    return { result: true };
  }

  @Get('password-policy')
  @ApiOperation({ operationId: 'getPasswordPolicy', summary: 'Get the policy that a new password must meet' })
  @AnswersTo(anyone, PasswordPolicyResponse)
  policy(): Promise<PasswordPolicyResponse> {
    return this.policies.current();
  }
}
