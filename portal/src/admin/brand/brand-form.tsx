import { type ReactNode, useState } from 'react';
import type { AdminBrand } from '@portal-auth/sdk/admin';
import { Form } from '../../components/form';
import { Failure } from '../../components/message';
import { Submit } from '../../components/submit';
import { useSpeech } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { problemsOf } from '../drafts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { HintedField } from '../parts/fields';
import { useUnsaved } from '../unsaved';
import { useViewer } from '../viewer';
import { ColorField } from './color-field';
import { contrastOf, leastContrast } from './contrast';
import { changeOf, type Draft, draftOf, images, links, shownOf } from './draft';
import { ImageField } from './image-field';
import { Preview } from './preview';

interface BrandFormProps {
  /** Undefined for the default. */
  readonly tenant: string | undefined;
  readonly brand: AdminBrand;
  readonly onSaved: (brand: AdminBrand) => void;
}

/** The brand as a form, with the preview beside it. Only what was changed is sent. */
export function BrandForm({ tenant, brand, onSaved }: BrandFormProps): ReactNode {
  const { t } = useSpeech();
  const { brand: texts, user } = useTexts();
  const { writes } = useViewer();
  const { inherited } = brand;
  const [before] = useState(() => draftOf(brand));
  const [draft, setDraft] = useState(before);
  const set = (values: Partial<Draft>) => setDraft((now) => ({ ...now, ...values }));
  const change = changeOf(before, draft);
  const changed = Object.keys(change).length > 0;
  useUnsaved(changed);
  const save = useTask(async () => {
    onSaved(changed ? await admin.setBrand(change, tenant) : brand);
  });
  const problem = problemsOf(save.error);
  const lowContrast = (contrastOf(draft.color.trim()) ?? leastContrast) < leastContrast;
  return (
    <div className="brand-editor">
      <fieldset className="read-only" disabled={!writes}>
        <Form busy={save.busy} onSubmit={() => void (!lowContrast && save.run())}>
          <Failure error={save.error} />
          <Card title={texts.words}>
            <HintedField
              label={texts.fields.name}
              hint={texts.hints.name}
              value={draft.name}
              onChange={(name) => set({ name })}
              placeholder={inherited.name ?? t.product}
              maxLength={64}
              error={problem('name')}
            />
            <HintedField
              label={texts.fields.tagline}
              hint={texts.hints.tagline}
              value={draft.tagline}
              onChange={(tagline) => set({ tagline })}
              placeholder={inherited.tagline ?? t.tagline}
              maxLength={160}
              error={problem('tagline')}
            />
            <ColorField
              value={draft.color}
              inherited={inherited.color}
              onChange={(color) => set({ color })}
              problem={problem('color')}
            />
          </Card>
          <Card title={texts.images} note={texts.imagesNote}>
            {images.map((one) => (
              <ImageField
                key={one}
                label={texts.fields[one]}
                hint={texts.hints[one]}
                on={one === 'logo_dark' ? 'dark' : 'light'}
                value={draft[one]}
                inherited={inherited[one]}
                onChange={(image) => set({ [one]: image })}
                problem={problem(one)}
              />
            ))}
          </Card>
          <Card title={texts.links}>
            {links.map((one) => (
              <HintedField
                key={one}
                label={texts.fields[one]}
                hint={texts.hints[one]}
                value={draft[one]}
                onChange={(url) => set({ [one]: url })}
                placeholder={inherited[one] ?? 'https://'}
                maxLength={512}
                error={problem(one)}
              />
            ))}
          </Card>
          <div className="actions start">
            <Submit label={texts.save} busy={save.busy} busyLabel={user.saving} />
            {changed && (
              <button type="button" className="secondary" onClick={() => setDraft(before)}>
                {texts.discard}
              </button>
            )}
          </div>
        </Form>
      </fieldset>
      <Preview brand={shownOf(draft, brand)} />
    </div>
  );
}
