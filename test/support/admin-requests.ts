import { randomUUID } from 'node:crypto';

/** What the request of a route may name: all of it belongs to the tenant `acme`. */
export interface AdminTargets {
  /** A user who has an address and no password. */
  readonly uid: string;
  /** A passkey of this user. */
  readonly passkey: string;
  /** An application, which belongs to no tenant. */
  readonly application: string;
}

/** A unit of the tenant `acme`, a mail and an event that were given up. The test creates them. */
export const targetUnit = 'target-unit';
export const targetMail = '0c9f6a1e-5d2b-4c3a-9e8f-7a6b5c4d3e2f';
export const targetEvent = '5b1de3a0-8c47-4f2e-b6d9-3f0a1c2e4d5b';

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
  'POST /admin/users/:uid/require-password-change': ({ uid }) => ({
    path: `/admin/users/${uid}/require-password-change`,
  }),
  'POST /admin/users/:uid/invite': ({ uid }) => ({ path: `/admin/users/${uid}/invite` }),
  'POST /admin/users/:uid/send-reset-link': ({ uid }) => ({ path: `/admin/users/${uid}/send-reset-link` }),
  'GET /admin/users/:uid/sessions': ({ uid }) => ({ path: `/admin/users/${uid}/sessions` }),
  'GET /admin/users/:uid/logins': ({ uid }) => ({ path: `/admin/users/${uid}/logins` }),
  'GET /admin/users/:uid/logouts': ({ uid }) => ({ path: `/admin/users/${uid}/logouts` }),
  'GET /admin/users/:uid/passkeys': ({ uid }) => ({ path: `/admin/users/${uid}/passkeys` }),
  'DELETE /admin/users/:uid/passkeys/:id': ({ uid, passkey }) => ({ path: `/admin/users/${uid}/passkeys/${passkey}` }),
  'GET /admin/overview': () => ({ path: '/admin/overview' }),
  'GET /admin/login-logs': () => ({ path: '/admin/login-logs' }),
  'GET /admin/audit-logs': () => ({ path: '/admin/audit-logs' }),
  'GET /admin/config': () => ({ path: '/admin/config' }),
  'PUT /admin/config/:group/:key': () => ({ path: '/admin/config/SMTP/SENDER', body: { value: 'a@example.com' } }),
  'DELETE /admin/config/:group/:key': () => ({ path: '/admin/config/SMTP/SENDER' }),
  'POST /admin/config/smtp-test': () => ({ path: '/admin/config/smtp-test', body: { to: 'a@example.com' } }),
  'GET /admin/mails': () => ({ path: '/admin/mails' }),
  'POST /admin/mails/:id/retry': () => ({ path: `/admin/mails/${targetMail}/retry` }),
  'GET /admin/events': () => ({ path: '/admin/events' }),
  'POST /admin/events/:id/retry': () => ({ path: `/admin/events/${targetEvent}/retry` }),
  'POST /admin/events/replay': () => ({
    path: '/admin/events/replay',
    body: { from: '2026-03-02T10:00:00Z', to: '2026-03-02T11:00:00Z' },
  }),
  'GET /admin/tenants': () => ({ path: '/admin/tenants' }),
  'POST /admin/tenants': () => ({ path: '/admin/tenants', body: { id: `t-${randomUUID()}`, name: 'New' } }),
  'PATCH /admin/tenants/:id': () => ({ path: '/admin/tenants/acme', body: { name: 'Acme' } }),
  'GET /admin/applications': () => ({ path: '/admin/applications' }),
  'POST /admin/applications': () => ({ path: '/admin/applications', body: { name: 'New', type: 'service' } }),
  'GET /admin/applications/:id': ({ application }) => ({ path: `/admin/applications/${application}` }),
  'GET /admin/applications/:id/claims': ({ application }) => ({ path: `/admin/applications/${application}/claims` }),
  'PATCH /admin/applications/:id': ({ application }) => ({
    path: `/admin/applications/${application}`,
    body: { name: 'Other' },
  }),
  'DELETE /admin/applications/:id': ({ application }) => ({ path: `/admin/applications/${application}` }),
  'POST /admin/applications/:id/rotate-secret': ({ application }) => ({
    path: `/admin/applications/${application}/rotate-secret`,
  }),
  'GET /admin/org-units': () => ({ path: '/admin/org-units' }),
  'POST /admin/org-units': () => ({
    path: '/admin/org-units',
    body: { id: `u-${randomUUID()}`, name: 'New', tenant_id: 'acme' },
  }),
  'PATCH /admin/org-units/:id': () => ({ path: `/admin/org-units/${targetUnit}`, body: { name: 'Sales' } }),
};
