import type { AdminApplication, AdminApplicationChange, NewAdminApplication } from '@portal-auth/sdk/admin';
import { changedIn, filled, orNull } from '../drafts';

export const types = ['web', 'spa', 'native', 'service'] as const;
export type ApplicationType = (typeof types)[number];

/** The scopes of docs/spec/extensions.md#j. Every application with users has `openid`. */
export const scopes = ['profile', 'email', 'organization', 'groups', 'offline_access'] as const;

/** Scopes of the resources of an application have a colon, or are not written to the end yet. */
export const ofResources = (all: readonly string[]): string[] =>
  all.filter((one) => !['openid', ...scopes].includes(one));

/** A program has no users: it has no addresses to return to, no consent and nobody who may sign in. */
export const hasUsers = (type: ApplicationType): boolean => type !== 'service';

/** Only a server can keep a secret. */
export const hasSecret = (type: ApplicationType): boolean => type === 'web' || type === 'service';

/** What the form holds: empty texts where the service has null. */
export interface Draft {
  readonly type: ApplicationType;
  readonly name: string;
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris: readonly string[];
  readonly backchannel_logout_uri: string;
  readonly uri: string;
  readonly logo_url: string;
  readonly scopes: readonly string[];
  readonly audience: readonly string[];
  readonly first_party: boolean;
  readonly allowed_tenants: readonly string[];
  readonly allowed_groups: readonly string[];
}

export const emptyDraft: Draft = {
  type: 'web',
  name: '',
  redirect_uris: [],
  post_logout_redirect_uris: [],
  backchannel_logout_uri: '',
  uri: '',
  logo_url: '',
  scopes: ['openid', 'profile', 'email'],
  audience: [],
  first_party: true,
  allowed_tenants: [],
  allowed_groups: [],
};

/** A page in the browser and an app cannot receive a logout token by themselves. */
export const hasBackchannel = ({ type, backchannel_logout_uri: uri }: AdminApplication | Draft): boolean =>
  type === 'web' || (uri !== null && uri !== '');

export const draftOf = (application: AdminApplication): Draft => ({
  ...application,
  backchannel_logout_uri: application.backchannel_logout_uri ?? '',
  uri: application.uri ?? '',
  logo_url: application.logo_url ?? '',
});

/** The scopes about users come first, so that the service numbers the others after them. */
export const ownScopes = ({ type, scopes: all }: Draft): string[] =>
  hasUsers(type) ? ['openid', ...scopes].filter((one) => all.includes(one)) : [];

/** What the service gets: only the fields that the type has. */
export function bodyOf(draft: Draft): NewAdminApplication {
  const { type, name, first_party } = draft;
  const audience = filled(draft.audience);
  const others = filled(ofResources(draft.scopes));
  if (!hasUsers(type)) return { type, name: name.trim(), scopes: others, audience };
  return {
    type,
    name: name.trim(),
    redirect_uris: filled(draft.redirect_uris),
    post_logout_redirect_uris: filled(draft.post_logout_redirect_uris),
    backchannel_logout_uri: orNull(draft.backchannel_logout_uri),
    uri: orNull(draft.uri),
    logo_url: orNull(draft.logo_url),
    scopes: [...ownScopes(draft), ...others],
    audience,
    first_party,
    allowed_tenants: filled(draft.allowed_tenants),
    allowed_groups: filled(draft.allowed_groups),
  };
}

/** Only what was changed, so that two administrators who change different fields do not undo each other. */
export const changeOf = (before: Draft, now: Draft): AdminApplicationChange => changedIn(bodyOf(before), bodyOf(now));
