import { type ReactNode, useState } from 'react';
import { Field } from '../../components/fields';
import { fill } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { bodyOf, type Draft, emptyDraft, types } from '../applications/application';
import { admin } from '../client';
import { filled, problemsOf } from '../drafts';
import { AccessFields, AddressFields, RightFields } from '../applications/field-groups';
import { addressesOf, baseOf, products } from '../applications/products';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { SelectField } from '../parts/fields';
import { handOver } from '../parts/fresh-secret';
import { NewEntryForm } from '../parts/new-entry-form';
import { applicationHref, go, hrefOf } from '../place';
import { useDraft } from '../use-draft';

const isProduct = (name: string): boolean => products.some((one) => one.name === name);

/** Asks only for what the product or the type needs. A product fills in its addresses and scopes. */
export function NewApplicationPage(): ReactNode {
  const { applications: texts } = useTexts();
  const [values, setValues] = useDraft(
    'new',
    { productId: '', base: '', draft: emptyDraft },
    { asks: ({ base: typed, draft: { name } }) => typed !== '' || (name !== '' && !isProduct(name)) },
  );
  const { productId, base, draft } = values;
  const [checked, setChecked] = useState(false);
  const set = (change: Partial<Draft>, more: { productId?: string; base?: string } = {}) =>
    setValues((now) => ({ ...now, ...more, draft: { ...now.draft, ...change } }));
  const product = products.find(({ id }) => id === productId);

  const choose = (id: string) => {
    const next = products.find((one) => one.id === id);
    const named = draft.name !== '' && !isProduct(draft.name);
    const filling = {
      type: 'web' as const,
      ...(next !== undefined && { scopes: next.scopes }),
      ...(!named && { name: next?.name ?? '' }),
      ...addresses(id, base),
    };
    set(filling, { productId: id });
  };
  const addresses = (id: string, typed: string): Partial<Draft> => {
    const next = products.find((one) => one.id === id);
    const found = baseOf(typed);
    return next === undefined || found === undefined ? {} : addressesOf(next, found);
  };

  const save = useTask(async () => {
    const { id, client_secret } = await admin.createApplication(bodyOf(draft));
    if (typeof client_secret === 'string') handOver(id, client_secret);
    go(applicationHref(id));
  });
  const told = problemsOf(save.error);
  const nameMissing = draft.name.trim() === '';
  const baseWrong = product !== undefined && baseOf(base) === undefined;
  // An app can sign in with a code that it shows instead (RFC 8628).
  const nowhere = ['web', 'spa'].includes(draft.type) && filled(draft.redirect_uris).length === 0;
  const problem: typeof told = (field, entry) =>
    checked && nowhere && field === 'redirect_uris' && entry === undefined
      ? texts.redirectRequired
      : told(field, entry);
  return (
    <NewEntryForm
      title={texts.create}
      up={{ href: hrefOf('/applications'), text: texts.title }}
      save={save}
      onSubmit={() => {
        setChecked(true);
        if (nameMissing || baseWrong || nowhere) save.reset();
        else void save.run();
      }}
      submit={texts.submit}
    >
      <Card title={texts.what}>
        <SelectField
          label={texts.product}
          value={productId}
          options={[['', texts.otherProduct], ...products.map(({ id, name }) => [id, name] as const)]}
          onChange={choose}
          hint={product === undefined ? texts.productHint : undefined}
        />
        {product === undefined && (
          <SelectField
            label={texts.fields.type}
            value={draft.type}
            options={types.map((type) => [type, texts.types[type].label] as const)}
            onChange={(type) => set({ type })}
            hint={texts.types[draft.type].hint}
          />
        )}
        <Field
          label={texts.fields.name}
          value={draft.name}
          onChange={(name) => set({ name })}
          error={checked && nameMissing ? texts.nameRequired : told('name')}
          autoComplete="off"
          maxLength={255}
          required
        />
        {product !== undefined && (
          <Field
            label={fill(texts.base, { product: product.name })}
            value={base}
            onChange={(typed) => set(addresses(productId, typed), { base: typed })}
            error={checked && baseWrong ? texts.baseRequired : undefined}
            placeholder="https://app.example.com"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={2048}
            required
          />
        )}
      </Card>
      <AddressFields draft={draft} set={set} problem={problem} />
      <RightFields draft={draft} set={set} problem={problem} />
      <AccessFields draft={draft} set={set} problem={problem} />
    </NewEntryForm>
  );
}
