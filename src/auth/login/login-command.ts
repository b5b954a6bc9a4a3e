import type { Provider } from '../../users/user.entity';

/** The input of a login. The captcha token is passed on as it came: the captcha module judges its form. */
export interface LoginCommand {
  readonly username: string;
  readonly password: string;
  readonly provider: Provider;
  readonly captchaToken: unknown;
}
