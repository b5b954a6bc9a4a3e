import type { ReactNode } from 'react';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { CheckField, HintedField } from '../parts/fields';
import { useLoaded } from '../use-loaded';
import { type Draft, hasBackchannel, hasUsers, scopes, ofResources, ownScopes } from './application';
import { type GroupProps, inputsOf } from '../parts/inputs';
import { ListField } from '../parts/list-field';

type Group = GroupProps<Draft>;

/** Where the application is, and where a browser may return to. */
export function AddressFields(group: Group): ReactNode {
  const { draft } = group;
  const { applications: texts } = useTexts();
  const { hints } = texts;
  const { text, list } = inputsOf(group);
  if (!hasUsers(draft.type)) return null;
  const native = draft.type === 'native';
  return (
    <Card title={texts.addresses}>
      <ListField
        {...list('redirect_uris', texts)}
        hint={native ? hints.redirect_native : hints.redirect_uris}
        placeholder={native ? 'http://127.0.0.1/callback' : 'https://app.example.com/callback'}
        required
      />
      <ListField {...list('post_logout_redirect_uris', texts)} />
      {hasBackchannel(draft) && <HintedField {...text('backchannel_logout_uri', texts)} />}
      <HintedField {...text('uri', texts)} />
      <HintedField {...text('logo_url', texts)} />
    </Card>
  );
}

/** What the application learns about a user, and for which services it may ask tokens. */
export function RightFields(group: Group): ReactNode {
  const { draft, set, problem } = group;
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
      <ListField {...inputsOf(group).list('audience', texts)} placeholder="https://api.example.com" />
    </Card>
  );
}

/** Who may use the application, and whether they are asked. */
export function AccessFields(group: Group): ReactNode {
  const { applications: texts } = useTexts();
  const { list, check } = inputsOf(group);
  const { value: tenants } = useLoaded((signal) => admin.tenants().page({ limit: 200, signal }));
  const { value: groups } = useLoaded((signal) => admin.groups().page({ limit: 200, signal }));
  if (!hasUsers(group.draft.type)) return null;
  return (
    <Card title={texts.access}>
      <CheckField {...check('first_party', texts)} />
      <ListField
        {...list('allowed_tenants', texts)}
        suggestions={tenants?.items.map(({ id, name }) => [id, name] as const) ?? []}
      />
      <ListField
        {...list('allowed_groups', texts)}
        suggestions={groups?.items.map(({ id, name }) => [id, name] as const) ?? []}
      />
    </Card>
  );
}
