/**
 * All error answers in one table: first those of docs/spec/service.md#7 in their order, then those that
 * docs/spec/decisions.md#1 adds. The first three digits of a code are its HTTP status. A test checks both
 * (`test/unit/error-catalogue.spec.ts`).
 */
export interface CatalogueEntry {
  readonly code: string;
  readonly status: number;
  readonly msg: { readonly en: string; readonly 'zh-CN': string };
}

const entry = (code: string, en: string, zhCN: string): CatalogueEntry => ({
  code,
  status: Number(/_(\d{3})\d{3}$/.exec(code)?.[1]),
  msg: { en, 'zh-CN': zhCN },
});

// Login
export const loginFailed = entry('LOGIN_401001', 'The user name or password is wrong.', '用户名或密码错误。');
export const accountLocked = entry(
  'LOGIN_401004',
  'The account is locked after repeated failures. Try again later.',
  '账户因多次登录失败已被锁定，请稍后再试。',
);
export const accountDormant = entry(
  'LOGIN_401008',
  'The account has not been used for a long time.',
  '该账户已长期未使用。',
);
export const externalAnswerRejected = entry(
  'LOGIN_401013',
  'The answer of your company’s sign-in is not valid. Sign in again.',
  '贵公司登录服务的应答无效，请重新登录。',
);
export const accountDisabled = entry('LOGIN_401011', 'The account is disabled.', '账户已被停用。');
export const accountNotEnabled = entry(
  'LOGIN_401012',
  'The account is not enabled or has expired.',
  '账户未启用或已过期。',
);
export const userNotFound = entry('LOGIN_404001', 'The user does not exist.', '用户不存在。');

// Second factor
export const emailCodeRejected = entry('MFA_401001', 'The e-mail code is not valid.', '邮箱验证码无效。');
export const totpCodeRejected = entry('AUTH_MFA_401001', 'The authenticator code is not valid.', '动态验证码无效。');
export const codeSentTooOften = entry(
  'MFA_429001',
  'A code was sent a moment ago. Wait before asking for another.',
  '验证码发送过于频繁，请稍后再试。',
);

// Password reset
export const emailNotFound = entry('AUTH_404002', 'There is no account with this e-mail address.', '该邮箱不存在。');
export const resetRequestedTooOften = entry(
  'AUTH_429002',
  'A password reset was requested a moment ago. Wait before asking again.',
  '密码重置请求过于频繁，请稍后再试。',
);
export const resetTokenUnknown = entry('AUTH_401003', 'This link does not exist.', '该链接不存在。');
export const resetRequestExpired = entry('AUTH_401005', 'This link has expired.', '该链接已过期。');
export const resetRequestUsed = entry('AUTH_401007', 'This link has already been used.', '该链接已被使用。');
export const passwordReused = entry(
  'AUTH_401009',
  'The new password must differ from the last ones.',
  '新密码不能与最近使用过的密码相同。',
);
export const passwordsDiffer = entry('AUTH_401010', 'The two passwords differ.', '两次输入的密码不一致。');
export const passwordPolicyViolated = entry(
  'AUTH_400007',
  'The password does not meet the password policy.',
  '密码不符合密码策略。',
);

// Common
export const internalError = entry('COMMON_500001', 'Something went wrong on the server.', '服务器内部错误。');

// Codes that docs/spec/decisions.md#1 adds
export const captchaRejected = entry('CAPTCHA_401001', 'The captcha is not valid.', '人机验证失败。');
export const captchaUnavailable = entry(
  'CAPTCHA_503001',
  'The captcha cannot be checked at the moment.',
  '人机验证服务暂不可用。',
);
export const directoryUnavailable = entry(
  'LOGIN_503001',
  'The directory cannot be reached at the moment.',
  '目录服务暂不可用。',
);
export const identityProviderUnavailable = entry(
  'LOGIN_503002',
  'The sign-in of your company cannot be reached at the moment.',
  '贵公司的登录服务暂不可用。',
);
export const legacyUnavailable = entry(
  'LOGIN_503003',
  'The password cannot be checked at the moment. Try again shortly.',
  '暂时无法验证密码，请稍后再试。',
);
export const accessTokenInvalid = entry(
  'AUTH_401001',
  'The access token is missing or not valid.',
  '访问令牌缺失或无效。',
);
export const accessTokenExpired = entry('AUTH_401002', 'The access token has expired.', '访问令牌已过期。');
export const accessTokenRevoked = entry('AUTH_401004', 'The access token has been revoked.', '访问令牌已被撤销。');
export const refreshTokenRejected = entry('AUTH_401006', 'The refresh token is not valid.', '刷新令牌无效。');
export const resendTypeInvalid = entry(
  'MFA_400001',
  'Only codes of type email can be sent again.',
  '仅支持重新发送邮箱验证码。',
);
export const qrCodeUnavailable = entry('MFA_404001', 'There is no QR code to show.', '没有可显示的二维码。');
export const requestInvalid = entry('COMMON_400001', 'The request is not valid.', '请求无效。');
export const routeNotFound = entry('COMMON_404001', 'There is nothing at this path.', '请求的路径不存在。');
export const methodNotAllowed = entry('COMMON_405001', 'This method is not allowed here.', '不支持该请求方法。');
export const bodyTooLarge = entry('COMMON_413001', 'The request is too large.', '请求内容过大。');
export const mediaTypeUnsupported = entry(
  'COMMON_415001',
  'The body must be JSON in UTF-8.',
  '请求体必须为 UTF-8 编码的 JSON。',
);
export const tooManyRequests = entry(
  'COMMON_429001',
  'Too many requests. Wait a moment.',
  '请求过于频繁，请稍后再试。',
);
export const serviceUnavailable = entry(
  'COMMON_503001',
  'The service cannot answer at the moment. Try again shortly.',
  '服务暂不可用，请稍后再试。',
);

// Codes that docs/spec/extensions.md adds
export const notPermitted = entry('AUTH_403001', 'You are not permitted to do this.', '您无权执行此操作。');
export const youngSessionRequired = entry(
  'AUTH_403002',
  'Log in again to do this: your last login is too long ago, or a trusted device left out the second factor.',
  '请重新登录后再执行此操作：距离上次登录时间过长，或受信任的设备免除了第二因素验证。',
);
export const proofRejected = entry(
  'AUTH_401011',
  'The proof of possession is missing or not valid.',
  '持有证明缺失或无效。',
);
export const notFoundForCaller = entry('USER_404001', 'There is no such entry.', '没有该条目。');
export const passkeyNotRegistered = entry('PASSKEY_400001', 'The passkey could not be added.', '无法添加该通行密钥。');
export const passkeyRejected = entry('PASSKEY_401001', 'The passkey is not valid.', '通行密钥无效。');
export const identityTaken = entry(
  'USER_409001',
  'The login name or the e-mail address is already in use.',
  '登录名或邮箱已被使用。',
);
export const lockOut = entry(
  'USER_409002',
  'This change would lock you out, or leave the service without an administrator.',
  '此更改会使您无法登录，或使系统失去管理员。',
);
/** Without the consent of the user, and for an identity provider that has users: `data.fields` then says what is wrong. */
export const refusedAsItIs = entry(
  'APP_400001',
  'The application needs your consent, or the identity provider cannot be changed like this.',
  '该应用需要您的授权，或该身份提供方无法这样更改。',
);
export const applicationRefused = entry('APP_403001', 'You may not use this application.', '您无权使用该应用。');
export const interactionNotFound = entry(
  'APP_404001',
  'This sign-in does not exist in this browser, or has expired. Go back to the application and try again.',
  '此浏览器中没有该登录请求，或请求已过期。请返回应用后重试。',
);
