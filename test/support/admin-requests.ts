import { randomUUID } from 'node:crypto';

/** What the request of a route may name: all of it belongs to the tenant `acme`. */
export interface AdminTargets {
  /** A user who has an address and no password. */
  readonly uid: string;
  /** A passkey of this user. */
  readonly passkey: string;
  /** A session of this user, and a trusted device. */
  readonly session: string;
  readonly device: string;
  /** An application, which belongs to no tenant. */
  readonly application: string;
  /** An identity provider without users. */
  readonly provider: string;
  /** An issuer that answers. */
  readonly issuer: string;
  /** A group that administrators own. */
  readonly group: string;
  /** A receiver of events, which belongs to no tenant. */
  readonly receiver: string;
}

/** A unit of the tenant `acme`, a mail and an event that were given up. The test creates them. */
export const targetUnit = 'target-unit';
export const targetMail = '0c9f6a1e-5d2b-4c3a-9e8f-7a6b5c4d3e2f';
export const targetEvent = '5b1de3a0-8c47-4f2e-b6d9-3f0a1c2e4d5b';

export interface AdminRequest {
  readonly path: string;
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
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
  'POST /admin/users/:uid/offboard': ({ uid }) => ({ path: `/admin/users/${uid}/offboard`, body: {} }),
  'GET /admin/users/:uid/offboarding': ({ uid }) => ({ path: `/admin/users/${uid}/offboarding` }),
  'GET /admin/users/:uid/export': ({ uid }) => ({ path: `/admin/users/${uid}/export` }),
  'GET /admin/users/:uid/passkeys': ({ uid }) => ({ path: `/admin/users/${uid}/passkeys` }),
  'DELETE /admin/users/:uid/passkeys/:id': ({ uid, passkey }) => ({ path: `/admin/users/${uid}/passkeys/${passkey}` }),
  'POST /admin/users/bulk': ({ uid }) => ({ path: '/admin/users/bulk', body: { uids: [uid], action: 'enable' } }),
  'POST /admin/users/import': () => ({
    ...{ path: '/admin/users/import', headers: { 'content-type': 'text/csv' } },
    body: `login_name,tenant_id\nnew-${randomUUID()},acme\n`,
  }),
  'DELETE /admin/users/:uid/sessions/:sid': ({ uid, session }) => ({ path: `/admin/users/${uid}/sessions/${session}` }),
  'GET /admin/users/:uid/devices': ({ uid }) => ({ path: `/admin/users/${uid}/devices` }),
  'DELETE /admin/users/:uid/devices/:id': ({ uid, device }) => ({ path: `/admin/users/${uid}/devices/${device}` }),
  'GET /admin/overview': () => ({ path: '/admin/overview' }),
  'POST /admin/checks': () => ({ path: '/admin/checks' }),
  'GET /admin/login-logs': () => ({ path: '/admin/login-logs' }),
  'GET /admin/audit-logs': () => ({ path: '/admin/audit-logs' }),
  'GET /admin/config': () => ({ path: '/admin/config' }),
  'GET /admin/settings': () => ({ path: '/admin/settings' }),
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
  'GET /admin/event-receivers': () => ({ path: '/admin/event-receivers' }),
  'POST /admin/event-receivers': () => ({
    path: '/admin/event-receivers',
    body: { id: randomUUID(), url: 'https://siem.example.com/events' },
  }),
  'GET /admin/event-receivers/:id': ({ receiver }) => ({ path: `/admin/event-receivers/${receiver}` }),
  'PATCH /admin/event-receivers/:id': ({ receiver }) => ({
    path: `/admin/event-receivers/${receiver}`,
    body: { enabled: false },
  }),
  'DELETE /admin/event-receivers/:id': ({ receiver }) => ({ path: `/admin/event-receivers/${receiver}` }),
  'POST /admin/event-receivers/:id/rotate-secret': ({ receiver }) => ({
    path: `/admin/event-receivers/${receiver}/rotate-secret`,
  }),
  'POST /admin/event-receivers/:id/replay': ({ receiver }) => ({
    path: `/admin/event-receivers/${receiver}/replay`,
    body: { from: '2026-03-02T10:00:00Z' },
  }),
  'POST /admin/event-receivers/:id/test': ({ receiver }) => ({ path: `/admin/event-receivers/${receiver}/test` }),
  'GET /admin/tenants': () => ({ path: '/admin/tenants' }),
  'POST /admin/tenants': () => ({ path: '/admin/tenants', body: { id: `t-${randomUUID()}`, name: 'New' } }),
  'PATCH /admin/tenants/:id': () => ({ path: '/admin/tenants/acme', body: { name: 'Acme' } }),
  'GET /admin/brand': () => ({ path: '/admin/brand' }),
  'PUT /admin/brand': () => ({ path: '/admin/brand', body: { tagline: 'One account' } }),
  'GET /admin/brand/:tenant_id': () => ({ path: '/admin/brand/acme' }),
  'PUT /admin/brand/:tenant_id': () => ({ path: '/admin/brand/acme', body: { tagline: 'One account' } }),
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
  'GET /admin/identity-providers': () => ({ path: '/admin/identity-providers' }),
  'POST /admin/identity-providers': ({ issuer }) => ({
    path: '/admin/identity-providers',
    body: { id: randomUUID(), name: 'New', issuer, client_id: 'portal' },
  }),
  'GET /admin/identity-providers/:id': ({ provider }) => ({ path: `/admin/identity-providers/${provider}` }),
  'PATCH /admin/identity-providers/:id': ({ provider }) => ({
    path: `/admin/identity-providers/${provider}`,
    body: { name: 'Other' },
  }),
  'DELETE /admin/identity-providers/:id': ({ provider }) => ({ path: `/admin/identity-providers/${provider}` }),
  'POST /admin/identity-providers/:id/test': ({ provider }) => ({ path: `/admin/identity-providers/${provider}/test` }),
  'POST /admin/identity-providers/:id/test/result': ({ provider }) => ({
    path: `/admin/identity-providers/${provider}/test/result`,
    body: { code: 'unknown' },
  }),
  'POST /admin/users/:uid/provider': ({ uid, provider }) => ({
    path: `/admin/users/${uid}/provider`,
    body: { provider: 'oidc', identity_provider: provider },
  }),
  'GET /admin/groups': () => ({ path: '/admin/groups' }),
  'POST /admin/groups': () => ({ path: '/admin/groups', body: { name: `g-${randomUUID()}`, tenant_id: 'acme' } }),
  'GET /admin/groups/:id': ({ group }) => ({ path: `/admin/groups/${group}` }),
  'PATCH /admin/groups/:id': ({ group }) => ({ path: `/admin/groups/${group}`, body: { name: `g-${randomUUID()}` } }),
  'DELETE /admin/groups/:id': ({ group }) => ({ path: `/admin/groups/${group}` }),
  'GET /admin/groups/:id/members': ({ group }) => ({ path: `/admin/groups/${group}/members` }),
  'PUT /admin/groups/:id/members/:uid': ({ group, uid }) => ({ path: `/admin/groups/${group}/members/${uid}` }),
  'DELETE /admin/groups/:id/members/:uid': ({ group, uid }) => ({ path: `/admin/groups/${group}/members/${uid}` }),
  'GET /admin/org-units': () => ({ path: '/admin/org-units' }),
  'POST /admin/org-units': () => ({
    path: '/admin/org-units',
    body: { id: `u-${randomUUID()}`, name: 'New', tenant_id: 'acme' },
  }),
  'PATCH /admin/org-units/:id': () => ({ path: `/admin/org-units/${targetUnit}`, body: { name: 'Sales' } }),
};
