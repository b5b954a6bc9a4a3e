import type { ReactNode } from 'react';
import { admin } from '../client';
import type { problemsOf } from '../drafts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { CheckField, HintedField } from '../parts/fields';
import { useLoaded } from '../use-loaded';
import { type Draft, hasBackchannel, hasUsers, scopes, ofResources, ownScopes } from './application';
import { ListField } from '../parts/list-field';

export interface GroupProps {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
  readonly problem: ReturnType<typeof problemsOf>;
}

/** Where the application is, and where a browser may return to. */
export function AddressFields({ draft, set, problem }: GroupProps): ReactNode {
  const { applications: texts } = useTexts();
  const { fields, hints } = texts;
  if (!hasUsers(draft.type)) return null;
  const native = draft.type === 'native';
  return (
    <Card title={texts.addresses}>
      <ListField
        label={fields.redirect_uris}
        hint={native ? hints.redirect_native : hints.redirect_uris}
        values={draft.redirect_uris}
        onChange={(redirect_uris) => set({ redirect_uris })}
        problem={(entry) => problem('redirect_uris', entry)}
        placeholder={native ? 'http://127.0.0.1/callback' : 'https://app.example.com/callback'}
        required
      />
      <ListField
        label={fields.post_logout_redirect_uris}
        hint={hints.post_logout_redirect_uris}
        values={draft.post_logout_redirect_uris}
        onChange={(post_logout_redirect_uris) => set({ post_logout_redirect_uris })}
        problem={(entry) => problem('post_logout_redirect_uris', entry)}
      />
      {hasBackchannel(draft) && (
        <HintedField
          label={fields.backchannel_logout_uri}
          hint={hints.backchannel_logout_uri}
          value={draft.backchannel_logout_uri}
          onChange={(backchannel_logout_uri) => set({ backchannel_logout_uri })}
          error={problem('backchannel_logout_uri')}
        />
      )}
      <HintedField
        label={fields.uri}
        hint={hints.uri}
        value={draft.uri}
        onChange={(uri) => set({ uri })}
        error={problem('uri')}
      />
      <HintedField
        label={fields.logo_url}
        hint={hints.logo_url}
        value={draft.logo_url}
        onChange={(logo_url) => set({ logo_url })}
        error={problem('logo_url')}
      />
    </Card>
  );
}

/** What the application learns about a user, and for which services it may ask tokens. */
export function RightFields({ draft, set, problem }: GroupProps): ReactNode {
  const { applications: texts } = useTexts();
  const toggle = (scope: string, on: boolean) =>
    set({ scopes: on ? [...draft.scopes, scope] : draft.scopes.filter((one) => one !== scope) });
  const others = ofResources(draft.scopes);
  const own = ownScopes(draft);
  return (
    <Card title={texts.rights}>
      {hasUsers(draft.type) && (
        <fieldset className="list-field">
          <legend>{texts.fields.scopes}</legend>
          {scopes.map((scope) => (
            <CheckField
              key={scope}
              label={texts.scopes[scope].label}
              hint={texts.scopes[scope].hint}
              checked={draft.scopes.includes(scope)}
              onChange={(on) => toggle(scope, on)}
            />
          ))}
        </fieldset>
      )}
      <ListField
        label={texts.fields.resource_scopes}
        hint={texts.hints.resource_scopes}
        values={others}
        onChange={(changed) => set({ scopes: [...draft.scopes.filter((one) => !others.includes(one)), ...changed] })}
        problem={(entry) => problem('scopes', entry === undefined ? undefined : own.length + entry)}
        placeholder="metrics:read"
      />
      <ListField
        label={texts.fields.audience}
        hint={texts.hints.audience}
        values={draft.audience}
        onChange={(audience) => set({ audience })}
        problem={(entry) => problem('audience', entry)}
        placeholder="https://api.example.com"
      />
    </Card>
  );
}

/** Who may use the application, and whether they are asked. */
export function AccessFields({ draft, set, problem }: GroupProps): ReactNode {
  const { applications: texts } = useTexts();
  const { value: tenants } = useLoaded((signal) => admin.tenants().page({ limit: 200, signal }));
  const { value: groups } = useLoaded((signal) => admin.groups().page({ limit: 200, signal }));
  if (!hasUsers(draft.type)) return null;
  return (
    <Card title={texts.access}>
      <CheckField
        label={texts.fields.first_party}
        hint={texts.hints.first_party}
        checked={draft.first_party}
        onChange={(first_party) => set({ first_party })}
      />
      <ListField
        label={texts.fields.allowed_tenants}
        hint={texts.hints.allowed_tenants}
        values={draft.allowed_tenants}
        onChange={(allowed_tenants) => set({ allowed_tenants })}
        problem={(entry) => problem('allowed_tenants', entry)}
        suggestions={tenants?.items.map(({ id, name }) => [id, name] as const) ?? []}
      />
      <ListField
        label={texts.fields.allowed_groups}
        hint={texts.hints.allowed_groups}
        values={draft.allowed_groups}
        onChange={(allowed_groups) => set({ allowed_groups })}
        problem={(entry) => problem('allowed_groups', entry)}
        suggestions={groups?.items.map(({ id, name }) => [id, name] as const) ?? []}
      />
    </Card>
  );
}
