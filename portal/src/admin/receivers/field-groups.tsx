import type { ReactNode } from 'react';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { HintedField, SelectField } from '../parts/fields';
import { type GroupProps, inputsOf } from '../parts/inputs';
import { ListField } from '../parts/list-field';
import { useLoaded } from '../use-loaded';
import { type Draft, offeredFormats } from './receiver';

type Group = GroupProps<Draft>;

/** Where the events go, and in which form. */
export function TargetFields(group: Group): ReactNode {
  const { draft, set } = group;
  const { receivers: texts } = useTexts();
  const { text } = inputsOf(group);
  return (
    <>
      <HintedField {...text('url', texts)} placeholder="https://siem.example.com/events" required />
      <SelectField
        label={texts.fields.format}
        value={draft.format}
        options={offeredFormats(draft.format).map((one) => [one, texts.formats[one].label] as const)}
        onChange={(format) => set({ format })}
        hint={texts.formats[draft.format].hint}
      />
      {draft.format === 'set' && <HintedField {...text('audience', texts)} maxLength={255} />}
    </>
  );
}

/** Which events the receiver gets. */
export function FilterFields(group: Group): ReactNode {
  const { receivers: texts } = useTexts();
  const { list } = inputsOf(group);
  const { value: tenants } = useLoaded((signal) => admin.tenants().page({ limit: 200, signal }));
  return (
    <Card title={texts.filters}>
      <ListField {...list('types', texts)} placeholder="user.*" />
      <ListField
        {...list('tenants', texts)}
        suggestions={tenants?.items.map(({ id, name }) => [id, name] as const) ?? []}
      />
    </Card>
  );
}
