import { Body, Controller, Get, Header, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '../../platform/http/api-docs';
import type { ClientInfo } from '../../shared/client-info';
import {
  codeSentTooOften,
  emailCodeRejected,
  externalAnswerRejected,
  qrCodeUnavailable,
  youngSessionRequired,
  resendTypeInvalid,
  totpCodeRejected,
} from '../../shared/errors/error-catalogue';
import { PrivacySettings } from '../../users/account-settings';
import { inSteps } from '../../platform/http/answer-steps';
import { OwnFormat } from '../../platform/http/answers.decorator';
import { AnswersTo, anyone } from '../../platform/http/audience';
import { Client } from '../../platform/http/client-info.decorator';
import { RateLimited } from '../../platform/limits/rate-limited.decorator';
import { accessToken, anyoneOrAccessToken, signInOrAccessToken } from '../../sessions/audiences';
import { type CurrentSession, Session } from '../../sessions/current-session';
import { OpenEnrolments } from '../enrolment/open-enrolments';
import { TotpEnrolmentService } from '../enrolment/totp-enrolment.service';
import { OtpResendService } from '../codes/otp-resend.service';
import { EmailVerifier } from '../verify/email-verifier';
import { RecoveryVerifier } from '../verify/recovery-verifier';
import { TotpVerifier } from '../verify/totp-verifier';
import type { VerifiedLogin } from '../verify/verified-logins';
import type { CodeType, SubmittedCode } from '../codes/submitted-code';
import {
  OtpResendDto,
  OtpResendResponse,
  OtpVerifyDto,
  OtpVerifyResponse,
  TotpSecretDto,
  TotpSecretResponse,
} from './mfa.dto';
import { secondFactorOf } from './second-factor-target';
import { userIdField } from '../../shared/user-id';

@ApiTags('second factor')
@Controller()
export class MfaController {
  constructor(
    private readonly email: EmailVerifier,
    private readonly totp: TotpVerifier,
    private readonly recovery: RecoveryVerifier,
    private readonly resends: OtpResendService,
    private readonly enrolments: TotpEnrolmentService,
    private readonly openEnrolments: OpenEnrolments,
    private readonly settings: PrivacySettings,
  ) {}

  @Post('otp-verify')
  @HttpCode(200)
  @RateLimited('otp', secondFactorOf('body'))
  @ApiOperation({
    operationId: 'verifyOtp',
    summary: 'Finish a login or confirm an authenticator with a code',
  })
  @AnswersTo(signInOrAccessToken, OtpVerifyResponse, emailCodeRejected, totpCodeRejected, externalAnswerRejected)
  async verify(
    @Body() { uid, type, code, mfa_token, trust_device }: OtpVerifyDto,
    @Session() session: CurrentSession | null,
    @Client() client: ClientInfo,
  ): Promise<OtpVerifyResponse> {
    const submitted = { uid, code, mfaToken: mfa_token ?? undefined, trustDevice: trust_device ?? false };
    const login = await this.concealed(() => this.login(type, submitted, client, session));
    return {
      result: true,
      access_token: login.accessToken,
      refresh_token: login.refreshToken,
      device_token: login.deviceToken,
    };
  }

  /**
   * With `HIDE_ACCOUNT_EXISTENCE`, `/forget-password` answers a `user_id` for every address. The time of an answer here
   * must not tell whether that id belongs to a user.
   */
  private concealed<T>(work: () => Promise<T>): Promise<T> {
    return inSteps(this.settings.hideAccountExistence, work);
  }

  private login(
    type: CodeType,
    submitted: SubmittedCode,
    client: ClientInfo,
    session: CurrentSession | null,
  ): Promise<VerifiedLogin> {
    if (type === 'email') return this.email.verify(submitted, client);
    if (type === 'recovery') return this.recovery.verify(submitted, client);
    return this.totp.verify(submitted, client, session);
  }

  @Post('otp-resend')
  @HttpCode(200)
  @RateLimited('otp', secondFactorOf('body'))
  @ApiOperation({ operationId: 'resendOtp', summary: 'Send a new e-mail code for the pending login' })
  @AnswersTo(anyone, OtpResendResponse, resendTypeInvalid, emailCodeRejected, codeSentTooOften)
  async resend(
    @Body() { uid, type, mfa_token }: OtpResendDto,
    @Client() client: ClientInfo,
  ): Promise<OtpResendResponse> {
    const request = { uid, type, mfaToken: mfa_token ?? undefined };
    const retryAfter = await this.concealed(() => this.resends.resend(request, client));
    return { result: true, retry_after: retryAfter };
  }

  @Get('otp-qrcode/:uid')
  @OwnFormat()
  @RateLimited('otp', secondFactorOf('params'))
  @Header('content-type', 'image/png')
  @ApiParam({
    name: 'uid',
    description: 'The `uid` of the user who enrols.',
    schema: { type: 'string', ...userIdField },
  })
  @ApiOperation({
    operationId: 'getOtpQrCode',
    summary: 'Get the QR code of the open enrolment of the caller',
  })
  @ApiOkResponse({
    description: 'The picture',
    content: { 'image/png': { schema: { type: 'string', format: 'binary' } } },
  })
  @AnswersTo(anyoneOrAccessToken, undefined, qrCodeUnavailable)
  qrCode(
    @Param('uid') uid: string,
    @Session() session: CurrentSession | null,
    @Client() client: ClientInfo,
  ): Promise<Buffer> {
    return this.concealed(() => this.openEnrolments.qrCode(uid, { session, ip: client.ip }));
  }

  @Post('totp-secret')
  @HttpCode(200)
  @ApiBody({ type: TotpSecretDto, required: false })
  @ApiOperation({
    operationId: 'createTotpSecret',
    summary: 'Start the enrolment of an authenticator for the logged-in user',
  })
  @AnswersTo(accessToken, TotpSecretResponse, youngSessionRequired, totpCodeRejected)
  createSecret(
    // Undefined when the request has no body. The type must be a plain class: a union type is not validated.
    @Body() body: TotpSecretDto,
    @Session() session: CurrentSession,
    @Client() client: ClientInfo,
  ): Promise<TotpSecretResponse> {
    return this.enrolments.open(session, (body as TotpSecretDto | undefined)?.code ?? undefined, client);
  }
}
