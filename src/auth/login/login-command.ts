import type { Provider } from '../../users/user.entity';

/** The input of a login. The captcha token is not validated here, because the captcha module checks its form. */
export interface LoginCommand {
  readonly username: string;
  readonly password: string;
  readonly provider: Provider;
  readonly captchaToken: unknown;
  /** The token of a trusted device. A wrong one is no error: the login then needs a code. */
  readonly deviceToken: string | undefined;
}
