import { Allow } from 'class-validator';

/** The token is judged by its own rules, so every value is taken. */
export class BackchannelLogoutDto {
  @Allow()
  logout_token?: unknown;
}

/** The form of the errors of OAuth 2.0, which the standard of the logout asks for. */
export interface LogoutRefused {
  readonly error: 'invalid_request';
}
