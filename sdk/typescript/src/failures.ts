import type {
  AdminChangeIdentityProviderError,
  AdminChangeUserError,
  AdminCreateIdentityProviderError,
  AdminCreateOrgUnitError,
  AdminCreateTenantError,
  AdminCreateUserError,
  AdminDeleteIdentityProviderError,
  AdminDeleteUserError,
  AdminGetUserError,
  AdminInviteUserError,
  AdminListAuditLogsError,
  AdminListConfigError,
  AdminListLoginLogsError,
  AdminListMailsError,
  AdminListOrgUnitsError,
  AdminListTenantsError,
  AdminListUserLoginsError,
  AdminListUserSessionsError,
  AdminListUsersError,
  AdminMoveUserError,
  AdminOverviewError,
  AdminRenameOrgUnitError,
  AdminRenameTenantError,
  AdminResetSecondFactorError,
  AdminRetryMailError,
  AdminRevokeSessionsError,
  AdminSendResetLinkError,
  AdminSetConfigError,
  AdminTestSmtpError,
  AdminUnlockUserError,
  AdminUnsetConfigError,
  BeginExternalLoginError,
  ChangeOwnPasswordError,
  ChangePasswordByRequestError,
  CreatePasskeyChallengeError,
  CreatePasskeyOptionsError,
  CreateRecoveryCodesError,
  CreateTotpSecretError,
  DeletePasskeyError,
  DeleteTrustedDeviceError,
  DiscoverSignInError,
  EndOtherSessionsError,
  EndSessionError,
  FinishInteractionError,
  ForgetPasswordError,
  GetCapabilitiesError,
  GetCaptchaChallengeError,
  GetCurrentUserError,
  GetInteractionError,
  GetLoginHistoryError,
  GetOtpQrCodeError,
  GetPasswordChangeRequestError,
  GetPasswordPolicyError,
  GetRecoveryCodesError,
  GetTrustedDevicesError,
  ListApplicationsError,
  ListPasskeysError,
  ListSessionsError,
  LoginError,
  LoginExternallyError,
  LoginWithPasskeyError,
  LogoutError,
  ReauthenticateError,
  RefreshError,
  RegisterPasskeyError,
  RenamePasskeyError,
  ResendOtpError,
  VerifyCaptchaError,
  VerifyOtpError,
} from './generated/types.gen.js';
import { isRecord } from './storage.js';

type DeclaredError =
  | AdminChangeIdentityProviderError
  | AdminChangeUserError
  | AdminCreateIdentityProviderError
  | AdminCreateOrgUnitError
  | AdminCreateTenantError
  | AdminCreateUserError
  | AdminDeleteIdentityProviderError
  | AdminDeleteUserError
  | AdminGetUserError
  | AdminInviteUserError
  | AdminListAuditLogsError
  | AdminListConfigError
  | AdminListLoginLogsError
  | AdminListMailsError
  | AdminListOrgUnitsError
  | AdminListTenantsError
  | AdminListUserLoginsError
  | AdminListUserSessionsError
  | AdminListUsersError
  | AdminMoveUserError
  | AdminOverviewError
  | AdminRenameOrgUnitError
  | AdminRenameTenantError
  | AdminResetSecondFactorError
  | AdminRetryMailError
  | AdminRevokeSessionsError
  | AdminSendResetLinkError
  | AdminSetConfigError
  | AdminTestSmtpError
  | AdminUnlockUserError
  | AdminUnsetConfigError
  | BeginExternalLoginError
  | ChangeOwnPasswordError
  | ChangePasswordByRequestError
  | CreatePasskeyChallengeError
  | CreatePasskeyOptionsError
  | CreateRecoveryCodesError
  | CreateTotpSecretError
  | DeletePasskeyError
  | DeleteTrustedDeviceError
  | DiscoverSignInError
  | EndOtherSessionsError
  | EndSessionError
  | FinishInteractionError
  | ForgetPasswordError
  | GetCapabilitiesError
  | GetCaptchaChallengeError
  | GetCurrentUserError
  | GetInteractionError
  | GetLoginHistoryError
  | GetOtpQrCodeError
  | GetPasswordChangeRequestError
  | GetPasswordPolicyError
  | GetRecoveryCodesError
  | GetTrustedDevicesError
  | ListApplicationsError
  | ListPasskeysError
  | ListSessionsError
  | LoginError
  | LoginExternallyError
  | LoginWithPasskeyError
  | LogoutError
  | ReauthenticateError
  | RefreshError
  | RegisterPasskeyError
  | RenamePasskeyError
  | ResendOtpError
  | VerifyCaptchaError
  | VerifyOtpError;

/** All error codes of the OpenAPI document. A `Record<ErrorCode, string>` that lacks a text does not compile. */
export type ErrorCode = DeclaredError['error_code'];

/** The service refused the request. Decide by `code`, never by `message`. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly status: number,
    /** Whole seconds to wait. Every 429 and 503 has it. */
    readonly retryAfter: number | undefined,
    /** The problems of each field. Only COMMON_400001 has them. */
    readonly fields: Readonly<Record<string, readonly string[]>>,
    /** The broken rules, by their names in `passwordPolicy()`. Only AUTH_400007 has them. */
    readonly rules: readonly string[] = [],
  ) {
    super(message);
  }
}

/** No answer arrived, or the answer did not come from the service, for example the error page of a proxy. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** The SDK refused the call and sent no request. */
export class RuleError extends Error {
  override readonly name = 'RuleError';

  constructor(
    readonly rule: 'wait' | 'no-pending-login' | 'signed-out',
    /** Seconds to wait; 0 unless `rule` is `wait`. */
    readonly seconds = 0,
  ) {
    super(rule === 'wait' ? `wait ${seconds} s` : rule);
  }
}

export type PasskeyProblem =
  /**
   * The user closed the prompt, the device did not recognise the user, the time was over, or there is no passkey on the
   * device. Browsers do not say which, so that no page learns who has a passkey.
   */
  | 'cancelled'
  /** The program ended the ceremony, or started another one. */
  | 'aborted'
  /** This browser, this device or this address cannot use passkeys. */
  | 'not-supported'
  /** This device or password manager already has a passkey of this user. */
  | 'already-registered'
  | 'failed';

/** The browser did not make or use a passkey. `cause` is the error of the browser. */
export class PasskeyError extends Error {
  override readonly name = 'PasskeyError';

  constructor(
    readonly problem: PasskeyProblem,
    options?: { readonly cause?: unknown },
  ) {
    super(`passkey: ${problem}`, options);
  }
}

export type KeyProblem =
  /** The page is not open over https, or the browser is too old. */
  | 'no-crypto'
  /** The browser does not store keys for this page, as in some private windows. */
  | 'no-storage'
  /** The program has turned binding off, or has passed a `storage` without a `keyStore`. */
  | 'no-store';

/** The service issues bound tokens only (`TOKEN_BINDING=required`), and there is no key to bind them to. */
export class KeyError extends Error {
  override readonly name = 'KeyError';

  constructor(readonly problem: KeyProblem) {
    super(`the service demands a key: ${problem}`);
  }
}

/** Converts an error of the generated client. */
export function failureOf(
  error: unknown,
  response: { readonly status: number } | undefined,
): ServiceError | ConnectionError | KeyError {
  // The SDK has refused the request itself.
  if (error instanceof ServiceError || error instanceof KeyError) return error;
  if (response === undefined || !isRecord(error) || typeof error.error_code !== 'string') {
    return new ConnectionError(response === undefined ? 'no answer' : `unexpected answer ${response.status}`, {
      cause: error,
    });
  }
  const data = isRecord(error.data) ? error.data : {};
  return new ServiceError(
    error.error_code as ErrorCode,
    String(error.msg),
    response.status,
    typeof data.retry_after === 'number' ? data.retry_after : undefined,
    isRecord(data.fields) ? (data.fields as Record<string, string[]>) : {},
    Array.isArray(data.rules) ? data.rules.map(String) : [],
  );
}
