import type {
  ChangePasswordByRequestError,
  CreateTotpSecretError,
  ForgetPasswordError,
  GetCaptchaChallengeError,
  GetCurrentUserError,
  GetPasswordChangeRequestError,
  GetPasswordPolicyError,
  GetOtpQrCodeError,
  LoginError,
  LogoutError,
  RefreshError,
  ResendOtpError,
  VerifyCaptchaError,
  VerifyOtpError,
} from './generated/index.js';
import { isRecord } from './storage.js';

type DeclaredError =
  | ChangePasswordByRequestError
  | CreateTotpSecretError
  | ForgetPasswordError
  | GetCaptchaChallengeError
  | GetCurrentUserError
  | GetPasswordChangeRequestError
  | GetPasswordPolicyError
  | GetOtpQrCodeError
  | LoginError
  | LogoutError
  | RefreshError
  | ResendOtpError
  | VerifyCaptchaError
  | VerifyOtpError;

/** Every code that the document declares for some operation: a table of texts over it is complete or does not compile. */
export type ErrorCode = DeclaredError['error_code'];

/** The service said no; decide by `code`, never by `message`. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly status: number,
    /** Whole seconds, on every 429 and 503. */
    readonly retryAfter: number | undefined,
    /** What does not fit, by field, on COMMON_400001. */
    readonly fields: Readonly<Record<string, readonly string[]>>,
  ) {
    super(message);
  }
}

/** No answer, or none that is the service's. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** A client's rule said no before anything was sent. */
export class RuleError extends Error {
  override readonly name = 'RuleError';

  constructor(
    readonly rule: 'wait' | 'no-pending-login' | 'signed-out',
    /** For `wait`. */
    readonly seconds = 0,
  ) {
    super(rule === 'wait' ? `wait ${seconds} s` : rule);
  }
}

/** What the generated client calls an error, as one of the above. */
export function failureOf(error: unknown, response: Response | undefined): ServiceError | ConnectionError {
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
  );
}
