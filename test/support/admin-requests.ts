import { randomUUID } from 'node:crypto';

/** What the request of a route may name: all of it belongs to the tenant `acme`. */
export interface AdminTargets {
  /** A user who has an address and no password. */
  readonly uid: string;
}

export interface AdminRequest {
  readonly path: string;
  readonly body?: object;
}

/** A request of each route of the administration that succeeds for an administrator of the root tenant. */
export const adminRequests: Readonly<Record<string, (targets: AdminTargets) => AdminRequest>> = {
  'GET /admin/users': () => ({ path: '/admin/users' }),
  'POST /admin/users': () => {
    const name = `new-${randomUUID()}`;
    return { path: '/admin/users', body: { login_name: name, email: `${name}@example.com`, tenant_id: 'acme' } };
  },
  'GET /admin/users/:uid': ({ uid }) => ({ path: `/admin/users/${uid}` }),
  'PATCH /admin/users/:uid': ({ uid }) => ({ path: `/admin/users/${uid}`, body: { nickname: 'Other' } }),
  'DELETE /admin/users/:uid': ({ uid }) => ({ path: `/admin/users/${uid}` }),
  'POST /admin/users/:uid/unlock': ({ uid }) => ({ path: `/admin/users/${uid}/unlock` }),
  'POST /admin/users/:uid/revoke-sessions': ({ uid }) => ({ path: `/admin/users/${uid}/revoke-sessions` }),
  'POST /admin/users/:uid/reset-second-factor': ({ uid }) => ({ path: `/admin/users/${uid}/reset-second-factor` }),
  'POST /admin/users/:uid/invite': ({ uid }) => ({ path: `/admin/users/${uid}/invite` }),
  'POST /admin/users/:uid/send-reset-link': ({ uid }) => ({ path: `/admin/users/${uid}/send-reset-link` }),
  'GET /admin/users/:uid/sessions': ({ uid }) => ({ path: `/admin/users/${uid}/sessions` }),
  'GET /admin/users/:uid/logins': ({ uid }) => ({ path: `/admin/users/${uid}/logins` }),
};
