import { type ReactNode, useState } from 'react';
import { Field } from '../../components/fields';
import { useSpeech } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { problemsOf } from '../drafts';
import { useTexts } from '../i18n/texts';
import { AddressesCard } from '../identity-providers/addresses-card';
import { ClientFields, PeopleFields, TrustFields } from '../identity-providers/field-groups';
import { presets, usual } from '../identity-providers/presets';
import { addressesOf, bodyOf, type Draft, emptyDraft, idOf } from '../identity-providers/provider';
import { Card } from '../parts/card';
import { HintedField, SelectField } from '../parts/fields';
import { NewEntryForm } from '../parts/new-entry-form';
import { go, hrefOf, identityProviderHref } from '../place';
import { useDraft } from '../use-draft';
import { useViewer } from '../viewer';

/**
 * Asks for the provider first. The addresses to be entered there follow from its id, and the provider gives a client id only
 * then. The service asks the issuer before it saves anything.
 */
export function NewIdentityProviderPage(): ReactNode {
  const { t } = useSpeech();
  const { identityProviders: texts, applications } = useTexts();
  const { me } = useViewer();
  const [draft, setDraft] = useDraft<Draft & { presetId: string }>(
    'new',
    { ...emptyDraft, tenant_id: me.tenant_id ?? '', presetId: '' },
    {
      secret: ['client_secret'],
      asks: ({ issuer, client_id: client, presetId: id }) =>
        issuer !== (presets.find((one) => one.id === id)?.values.issuer ?? '') || client !== '',
    },
  );
  const { presetId } = draft;
  const [ownId, setOwnId] = useState(false);
  const [known, setKnown] = useState(false);
  const [checked, setChecked] = useState(false);
  const set = (change: Partial<typeof draft>) => setDraft((now) => ({ ...now, ...change }));
  const named = (name: string): Partial<Draft> => ({ name, ...(!ownId && { id: idOf(name) }) });
  const preset = presets.find(({ id }) => id === presetId);

  const choose = (id: string) => {
    const next = presets.find((one) => one.id === id);
    const typed = draft.name !== '' && !presets.some(({ name }) => name === draft.name);
    set({ presetId: id, ...(next?.values ?? usual), ...(!typed && named(next?.name ?? '')) });
  };
  const save = useTask(async () => {
    const { id } = await admin.createIdentityProvider(bodyOf(draft));
    go(identityProviderHref(id));
  });
  const told = problemsOf(save.error);
  const missing = {
    name: draft.name.trim() === '' && texts.nameRequired,
    id: !/^[a-z0-9-]{1,40}$/.test(draft.id.trim()) && texts.idRequired,
    issuer: !isAddress(draft.issuer) && texts.issuerRequired,
    client_id: known && draft.client_id.trim() === '' && texts.clientIdRequired,
  };
  const problem: typeof told = (field, entry) =>
    (checked && entry === undefined && missing[field as keyof typeof missing]) || told(field, entry);
  const group = { draft, set, problem };
  const submit = () => {
    const isMissing = Object.values(missing).some((one) => one !== false);
    setChecked(isMissing);
    if (isMissing) save.reset();
    else if (known) void save.run();
    else setKnown(true);
  };
  return (
    <NewEntryForm
      title={texts.create}
      up={{ href: hrefOf('/identity-providers'), text: texts.title }}
      save={save}
      onSubmit={submit}
      submit={known ? texts.submit : t.login.next}
    >
      <Card title={texts.which}>
        <SelectField
          label={applications.product}
          value={presetId}
          options={[['', applications.otherProduct], ...presets.map(({ id, name }) => [id, name] as const)]}
          onChange={choose}
        />
        <Field
          label={applications.fields.name}
          value={draft.name}
          onChange={(name) => set(named(name))}
          error={problem('name')}
          autoComplete="off"
          maxLength={255}
          required
        />
        <HintedField
          label={texts.fields.issuer}
          hint={texts.hints.issuer}
          value={draft.issuer}
          onChange={(issuer) => set({ issuer })}
          error={problem('issuer')}
          placeholder={preset?.issuer ?? 'https://login.example.com'}
          required
        />
        <HintedField
          label={texts.fields.id}
          hint={texts.hints.id}
          value={draft.id}
          onChange={(id) => {
            setOwnId(true);
            set({ id });
          }}
          error={problem('id')}
          maxLength={40}
          required
        />
      </Card>
      {known && (
        <>
          <AddressesCard issuer={draft.issuer} addresses={addressesOf(draft.id.trim())} />
          <ClientFields {...group} hasSecret={false} />
          <PeopleFields {...group} />
          <TrustFields {...group} />
        </>
      )}
    </NewEntryForm>
  );
}

function isAddress(text: string): boolean {
  try {
    return /^https?:$/.test(new URL(text.trim()).protocol);
  } catch {
    return false;
  }
}
