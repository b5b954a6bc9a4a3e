import type {
  AdminIdentityProvider,
  AdminIdentityProviderChange,
  NewAdminIdentityProvider,
} from '@portal-auth/sdk/admin';
import { serviceBase } from '../../auth';
import { changedIn, filled, orNull } from '../drafts';

/** What the form holds: empty texts where the service has null. */
export interface Draft {
  readonly id: string;
  readonly name: string;
  readonly issuer: string;
  readonly client_id: string;
  /** Empty: the stored one stays, because nobody can read it. */
  readonly client_secret: string;
  /** A day of the calendar. */
  readonly client_secret_expires: string;
  readonly scopes: readonly string[];
  readonly acr_values: readonly string[];
  readonly domains: readonly string[];
  readonly tenant_id: string;
  readonly jit: boolean;
  readonly trust_mfa: boolean;
  readonly claims: Readonly<Record<Claim, string>>;
  readonly match_claim: string;
  readonly listed: boolean;
}

export const claims = ['login_name', 'email', 'nickname', 'groups'] as const;
export type Claim = (typeof claims)[number];

export const emptyDraft: Draft = {
  id: '',
  name: '',
  issuer: '',
  client_id: '',
  client_secret: '',
  client_secret_expires: '',
  scopes: ['openid', 'profile', 'email'],
  acr_values: [],
  domains: [],
  tenant_id: '',
  jit: false,
  trust_mfa: false,
  claims: { login_name: 'preferred_username', email: 'email', nickname: 'name', groups: '' },
  match_claim: '',
  listed: true,
};

export const draftOf = (provider: AdminIdentityProvider): Draft => ({
  ...provider,
  client_secret: '',
  client_secret_expires: provider.client_secret_expires?.slice(0, 'yyyy-mm-dd'.length) ?? '',
  claims: {
    login_name: provider.claims.login_name,
    email: provider.claims.email ?? '',
    nickname: provider.claims.nickname ?? '',
    groups: provider.claims.groups ?? '',
  },
  match_claim: provider.match_claim ?? '',
});

/** What the service gets. A secret that was not typed is not part of it. */
const fieldsOf = (draft: Draft) => ({
  name: draft.name.trim(),
  issuer: draft.issuer.trim(),
  client_id: draft.client_id.trim(),
  ...(draft.client_secret !== '' && { client_secret: draft.client_secret }),
  client_secret_expires: draft.client_secret_expires === '' ? null : `${draft.client_secret_expires}T00:00:00Z`,
  scopes: filled(draft.scopes),
  acr_values: filled(draft.acr_values),
  domains: filled(draft.domains),
  tenant_id: draft.tenant_id,
  jit: draft.jit,
  trust_mfa: draft.trust_mfa,
  claims: {
    login_name: draft.claims.login_name.trim(),
    email: orNull(draft.claims.email),
    nickname: orNull(draft.claims.nickname),
    groups: orNull(draft.claims.groups),
  },
  match_claim: orNull(draft.match_claim),
  listed: draft.listed,
});

export const bodyOf = (draft: Draft): NewAdminIdentityProvider => ({ id: draft.id.trim(), ...fieldsOf(draft) });

/** Only what was changed, so that two administrators who change different fields do not undo each other. */
export const changeOf = (before: Draft, now: Draft): AdminIdentityProviderChange =>
  changedIn<AdminIdentityProviderChange>(fieldsOf(before), fieldsOf(now));

/** What the provider has to know before it gives a client id. The service answers the same addresses when it has saved it. */
export const addressesOf = (id: string) => ({
  redirect_uri: new URL(`login/external/${id}/callback`, serviceBase).href,
  backchannel_logout_uri: new URL(`login/external/${id}/backchannel-logout`, serviceBase).href,
});

/** `entra-id` of `Entra ID`: it becomes a part of addresses. */
export const idOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40);
