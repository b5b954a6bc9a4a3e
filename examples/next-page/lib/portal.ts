import { settings } from './settings';

/** An answer of the service, https://…/openapi.json. */
export interface Answer<Data> {
  readonly status: number;
  readonly data?: Data;
  readonly code?: string;
}

export interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

export interface Login {
  readonly access_token: string | null;
  readonly refresh_token: string | null;
  readonly user_info: { readonly uid: string };
  readonly mfa_required: boolean;
  readonly mfa_type: string;
  readonly mfa_token: string | null;
  readonly change_password: boolean;
}

export interface Me {
  readonly login_name: string;
  readonly email: string | null;
}

/** Throws when the service does not answer, or answers that it cannot. */
async function call<Data>(path: string, init: RequestInit): Promise<Answer<Data>> {
  const response = await fetch(settings.authUrl() + path, {
    ...init,
    cache: 'no-store',
    signal: AbortSignal.timeout(settings.timeoutMs()),
  });
  if (response.status >= 500) throw new Error(`${path} answered ${response.status}`);
  const { data, error_code: code } = (await response.json()) as { data?: Data; error_code?: string };
  return { status: response.status, data: response.ok ? data : undefined, code };
}

const post = <Data>(path: string, body: object, headers: Record<string, string> = {}) =>
  call<Data>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

export const portal = {
  login: (username: string, password: string, captchaToken: string) =>
    post<Login>('/login', { username, password, captcha_token: captchaToken }),
  verifyCode: (uid: string, type: string, code: string, mfaToken: string | null) =>
    post<Pair>('/otp-verify', { uid, type, code, mfa_token: mfaToken }),
  refresh: (refreshToken: string) => post<Pair>('/refresh', { refresh_token: refreshToken }),
  logout: (token: string) => post<unknown>('/logout', {}, { authorization: `Bearer ${token}` }),
  me: (token: string) => call<Me>('/user/me', { headers: { authorization: `Bearer ${token}` } }),
};
