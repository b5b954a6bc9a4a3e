import { Pages } from '@portal-auth/sdk/admin';
import { auth } from '../../auth';

export interface AdminApplication {
  readonly id: string;
  readonly name: string;
  readonly type: 'web' | 'spa' | 'native' | 'service';
  readonly client_secret?: string | null;
  readonly redirect_uris: string[];
  readonly post_logout_redirect_uris: string[];
  readonly backchannel_logout_uri: string | null;
  readonly scopes: string[];
  readonly audience: string[];
  readonly first_party: boolean;
  readonly allowed_tenants: string[];
  readonly allowed_groups: string[];
  readonly logo_url: string | null;
  readonly uri: string | null;
  readonly enabled: boolean;
  readonly old_secret_expires_at: string | null;
}
export type AdminApplicationChange = Partial<
  Omit<AdminApplication, 'id' | 'type' | 'client_secret' | 'old_secret_expires_at'>
>;
export type NewAdminApplication = AdminApplicationChange & Pick<AdminApplication, 'name' | 'type'>;
export interface AdminApplicationTrial {
  readonly allowed: boolean;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly userinfo: Readonly<Record<string, unknown>>;
}
export interface AdminLogout {
  readonly id: string;
  readonly sid: string;
  /** The name is null when the application was deleted. */
  readonly application: { readonly id: string; readonly name: string | null };
  readonly created_at: string;
  readonly status: 'waiting' | 'told' | 'failed' | 'not_offered';
  readonly attempts: number;
  readonly answered_at: string | null;
  readonly answer: string | null;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
async function send<T>(method: Method, url: string, body?: object, signal?: AbortSignal): Promise<T> {
  const answer = await auth.withFreshLogin(() =>
    auth.call<{ data: T }>(
      ({ client, ...options }) =>
        client.request({
          ...options,
          ...{ method, url, security: [{ scheme: 'bearer', type: 'http' }] },
          ...(body !== undefined && { body, headers: { 'Content-Type': 'application/json' } }),
        }) as never,
      { signal },
    ),
  );
  return answer.data;
}

const query = (of: object): string =>
  new URLSearchParams(Object.entries(of).filter(([, value]) => value !== undefined)).toString();
const path = (id: string): string => `/admin/applications/${encodeURIComponent(id)}`;
const unused = () => Promise.reject(new Error('not used'));

export const admin = {
  applications: (): Pages<AdminApplication> =>
    new Pages({
      page: ({ after, limit, signal }) =>
        send('GET', `/admin/applications?${query({ after, limit })}`, undefined, signal),
      file: unused,
      pause: unused,
    }),
  application: (id: string, { signal }: { signal?: AbortSignal } = {}) =>
    send<AdminApplication>('GET', path(id), undefined, signal),
  createApplication: (body: NewAdminApplication) => send<AdminApplication>('POST', '/admin/applications', body),
  changeApplication: (id: string, body: AdminApplicationChange) => send<AdminApplication>('PATCH', path(id), body),
  deleteApplication: (id: string) => send<unknown>('DELETE', path(id)),
  rotateApplicationSecret: (id: string, keep_old_seconds: number) =>
    send<AdminApplication>('POST', `${path(id)}/rotate-secret`, { keep_old_seconds }),
  tryApplication: (id: string) => send<AdminApplicationTrial>('POST', `${path(id)}/try`),
  userLogouts: (uid: string): Pages<AdminLogout> =>
    new Pages({
      page: async ({ after, signal }) => {
        const url = `/admin/users/${encodeURIComponent(uid)}/logouts?${query({ cursor: after })}`;
        const { logouts, next } = await send<{ logouts: AdminLogout[]; next: string | null }>(
          'GET',
          url,
          undefined,
          signal,
        );
        return { items: logouts, next };
      },
      file: unused,
      pause: unused,
    }),
};
