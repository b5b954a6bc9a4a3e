import type { Provider } from '../../users/user.entity';

/** Where a password that is typed here is checked. A user of an identity provider types none. */
export type PasswordChecker = Exclude<Provider, 'oidc'>;

/** `auto`: the account that the name leads to decides (docs/spec/extensions.md#provider-auto). */
export type ProviderChoice = PasswordChecker | 'auto';

/** The input of a login. The captcha token is not validated here, because the captcha module checks its form. */
export interface TypedLogin {
  readonly username: string;
  readonly password: string;
  readonly provider: ProviderChoice;
  readonly captchaToken: unknown;
  /** The token of a trusted device. A wrong one is no error: the login then needs a code. */
  readonly deviceToken: string | undefined;
}

/** A login whose kind of account is known. Logs, metrics and events have this kind, never `auto`. */
export interface LoginCommand extends TypedLogin {
  readonly provider: PasswordChecker;
}
