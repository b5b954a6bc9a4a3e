import type { Provider } from '../../users/user.entity';

/** The input of a login. The captcha token is not validated here, because the captcha module checks its form. */
export interface LoginCommand {
  readonly username: string;
  readonly password: string;
  readonly provider: Provider;
  readonly captchaToken: unknown;
}
