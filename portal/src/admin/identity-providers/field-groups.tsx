import { type ReactNode, useId } from 'react';
import { Field, PasswordField } from '../../components/fields';
import { fill } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { CheckField, HintedField } from '../parts/fields';
import { type GroupProps, inputsOf } from '../parts/inputs';
import { ListField } from '../parts/list-field';
import { TenantField } from '../parts/tenant-field';
import { type Claim, claims, type Draft } from './provider';

type Group = GroupProps<Draft>;

interface ClientFieldsProps extends Group {
  /** A stored secret stays when the field stays empty. */
  readonly hasSecret: boolean;
}

/** What the provider has given to this service. */
export function ClientFields({ hasSecret, ...group }: ClientFieldsProps): ReactNode {
  const { draft, set, problem } = group;
  const { identityProviders: texts } = useTexts();
  const { fields, hints } = texts;
  const secret = useId();
  return (
    <Card title={texts.client}>
      <Field
        label={fields.client_id}
        value={draft.client_id}
        onChange={(client_id) => set({ client_id })}
        error={problem('client_id')}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={255}
        required
      />
      <div className="field">
        <PasswordField
          label={fields.client_secret}
          value={draft.client_secret}
          onChange={(client_secret) => set({ client_secret })}
          error={problem('client_secret')}
          describedBy={secret}
          autoComplete="off"
          maxLength={4096}
        />
        <p className="note" id={secret}>
          {hasSecret ? hints.stored_secret : hints.client_secret}
        </p>
      </div>
      <HintedField {...inputsOf(group).text('client_secret_expires', texts)} type="date" />
    </Card>
  );
}

/** Who signs in at the provider, and what becomes of somebody who does so for the first time. */
export function PeopleFields(group: Group): ReactNode {
  const { draft, set } = group;
  const { identityProviders: texts } = useTexts();
  const { text, list, check } = inputsOf(group);
  return (
    <Card title={texts.people}>
      <CheckField {...check('listed', texts)} hint={fill(texts.hints.listed, { name: draft.name })} />
      <ListField {...list('domains', texts)} placeholder="example.com" />
      <CheckField {...check('jit', texts)} />
      <TenantField value={draft.tenant_id} onChange={(tenant_id) => set({ tenant_id })} />
      <HintedField {...text('match_claim', texts)} />
    </Card>
  );
}

/** What the service asks the provider for, and what it believes. */
export function TrustFields(group: Group): ReactNode {
  const { draft, set, problem } = group;
  const { identityProviders: texts } = useTexts();
  const { fields, hints } = texts;
  const { list, check } = inputsOf(group);
  const setClaim = (claim: Claim, name: string) => set({ claims: { ...draft.claims, [claim]: name } });
  return (
    <Card title={texts.trust}>
      <CheckField {...check('trust_mfa', texts)} />
      {claims.map((claim) => (
        <HintedField
          key={claim}
          label={fields.claims[claim]}
          hint={hints.claims[claim]}
          value={draft.claims[claim]}
          onChange={(name) => setClaim(claim, name)}
          error={problem(`claims.${claim}`)}
        />
      ))}
      <ListField {...list('scopes', texts)} placeholder="openid" />
      <ListField {...list('acr_values', texts)} />
    </Card>
  );
}
