import { type ReactNode, useId } from 'react';
import { Field, PasswordField } from '../../components/fields';
import { fill } from '../../i18n/texts';
import type { problemsOf } from '../drafts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { CheckField, HintedField } from '../parts/fields';
import { ListField } from '../parts/list-field';
import { TenantField } from '../parts/tenant-field';
import { type Claim, claims, type Draft } from './provider';

export interface GroupProps {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
  readonly problem: ReturnType<typeof problemsOf>;
}

interface ClientFieldsProps extends GroupProps {
  /** A stored secret stays when the field stays empty. */
  readonly hasSecret: boolean;
}

/** What the provider has given to this service. */
export function ClientFields({ draft, set, problem, hasSecret }: ClientFieldsProps): ReactNode {
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
      <HintedField
        label={fields.client_secret_expires}
        hint={hints.client_secret_expires}
        type="date"
        value={draft.client_secret_expires}
        onChange={(client_secret_expires) => set({ client_secret_expires })}
        error={problem('client_secret_expires')}
      />
    </Card>
  );
}

/** Who signs in at the provider, and what becomes of somebody who does so for the first time. */
export function PeopleFields({ draft, set, problem }: GroupProps): ReactNode {
  const { identityProviders: texts } = useTexts();
  const { fields, hints } = texts;
  return (
    <Card title={texts.people}>
      <CheckField
        label={fields.listed}
        hint={fill(hints.listed, { name: draft.name })}
        checked={draft.listed}
        onChange={(listed) => set({ listed })}
      />
      <ListField
        label={fields.domains}
        hint={hints.domains}
        values={draft.domains}
        onChange={(domains) => set({ domains })}
        problem={(entry) => problem('domains', entry)}
        placeholder="example.com"
      />
      <CheckField label={fields.jit} hint={hints.jit} checked={draft.jit} onChange={(jit) => set({ jit })} />
      <TenantField value={draft.tenant_id} onChange={(tenant_id) => set({ tenant_id })} />
      <HintedField
        label={fields.match_claim}
        hint={hints.match_claim}
        value={draft.match_claim}
        onChange={(match_claim) => set({ match_claim })}
        error={problem('match_claim')}
      />
    </Card>
  );
}

/** What the service asks the provider for, and what it believes. */
export function TrustFields({ draft, set, problem }: GroupProps): ReactNode {
  const { identityProviders: texts } = useTexts();
  const { fields, hints } = texts;
  const setClaim = (claim: Claim, name: string) => set({ claims: { ...draft.claims, [claim]: name } });
  return (
    <Card title={texts.trust}>
      <CheckField
        label={fields.trust_mfa}
        hint={hints.trust_mfa}
        checked={draft.trust_mfa}
        onChange={(trust_mfa) => set({ trust_mfa })}
      />
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
      <ListField
        label={fields.scopes}
        hint={hints.scopes}
        values={draft.scopes}
        onChange={(scopes) => set({ scopes })}
        problem={(entry) => problem('scopes', entry)}
        placeholder="openid"
      />
      <ListField
        label={fields.acr_values}
        hint={hints.acr_values}
        values={draft.acr_values}
        onChange={(acr_values) => set({ acr_values })}
        problem={(entry) => problem('acr_values', entry)}
      />
    </Card>
  );
}
