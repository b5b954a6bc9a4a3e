import type { ReactNode } from 'react';
import { admin } from '../client';
import type { problemsOf } from '../drafts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { HintedField, SelectField } from '../parts/fields';
import { ListField } from '../parts/list-field';
import { useLoaded } from '../use-loaded';
import { type Draft, offeredFormats } from './receiver';

interface GroupProps {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
  readonly problem: ReturnType<typeof problemsOf>;
}

/** Where the events go, and in which form. */
export function TargetFields({ draft, set, problem }: GroupProps): ReactNode {
  const { receivers: texts } = useTexts();
  const { fields, hints } = texts;
  return (
    <>
      <HintedField
        label={fields.url}
        hint={hints.url}
        value={draft.url}
        onChange={(url) => set({ url })}
        error={problem('url')}
        placeholder="https://siem.example.com/events"
        required
      />
      <SelectField
        label={fields.format}
        value={draft.format}
        options={offeredFormats(draft.format).map((one) => [one, texts.formats[one].label] as const)}
        onChange={(format) => set({ format })}
        hint={texts.formats[draft.format].hint}
      />
      {draft.format === 'set' && (
        <HintedField
          label={fields.audience}
          hint={hints.audience}
          value={draft.audience}
          onChange={(audience) => set({ audience })}
          error={problem('audience')}
          maxLength={255}
        />
      )}
    </>
  );
}

/** Which events the receiver gets. */
export function FilterFields({ draft, set, problem }: GroupProps): ReactNode {
  const { receivers: texts } = useTexts();
  const { fields, hints } = texts;
  const { value: tenants } = useLoaded((signal) => admin.tenants().page({ limit: 200, signal }));
  return (
    <Card title={texts.filters}>
      <ListField
        label={fields.types}
        hint={hints.types}
        values={draft.types}
        onChange={(types) => set({ types })}
        problem={(entry) => problem('types', entry)}
        placeholder="user.*"
      />
      <ListField
        label={fields.tenants}
        hint={hints.tenants}
        values={draft.tenants}
        onChange={(values) => set({ tenants: values })}
        problem={(entry) => problem('tenants', entry)}
        suggestions={tenants?.items.map(({ id, name }) => [id, name] as const) ?? []}
      />
    </Card>
  );
}
