import { type ReactNode, useState } from 'react';
import { Field } from '../../components/fields';
import { Form } from '../../components/form';
import { Failure, Message } from '../../components/message';
import { Submit } from '../../components/submit';
import { auth } from '../../auth';
import { fill } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { Dialog } from '../parts/dialog';
import { useClash } from '../parts/clash';
import { CheckField } from '../parts/fields';
import { PageHead } from '../parts/page-head';
import { ErrorState, LoadingState } from '../parts/states';
import { say } from '../toasts';
import { useDraft } from '../use-draft';
import { useLoaded } from '../use-loaded';
import { useViewer } from '../viewer';

const group = 'CONFIG';
const key = 'PASSWORD_POLICY';
const contains = ['require_upper', 'require_lower', 'require_digit', 'require_special'] as const;
const refuses = ['forbid_common', 'forbid_own_data', 'breach_check'] as const;
type Rule = (typeof contains)[number] | (typeof refuses)[number];
type Policy = Readonly<Record<Rule, boolean>> & { readonly min_length: number };

/** After this time every replica answers with the changed policy. */
const freshMs = 1000;
/** bcrypt reads 72 bytes of a password. */
const longest = 72;

interface Stored {
  /** What is in force: the stored rules, or the default of the service for those that are not stored. */
  readonly policy: Policy;
  readonly stored: boolean;
}

async function load(): Promise<Stored> {
  const [policy, settings] = await Promise.all([auth.passwordPolicy(), admin.settings()]);
  const value = settings.find((one) => one.group === group && one.key === key)?.value;
  if (typeof value !== 'string') return { policy, stored: false };
  // The policy in force can be a second old. The stored value has the last change.
  return { policy: { ...policy, ...(JSON.parse(value) as Policy) }, stored: true };
}

/** The rules for new passwords, as a form instead of their JSON. */
export function PolicyPage(): ReactNode {
  const { policy: texts } = useTexts();
  const { writes } = useViewer();
  const { value, error, reload } = useLoaded(load);
  const [saves, setSaves] = useState(0);
  const changed = (text: string) => {
    say(text);
    setSaves((count) => count + 1);
    reload();
  };
  return (
    <>
      <PageHead title={texts.title} intro={texts.intro} />
      <div className="narrow">
        <ErrorState error={error} retry={reload} />
        {value === undefined && error === undefined && <LoadingState lines={8} />}
        {value !== undefined && (
          <fieldset className="read-only" disabled={!writes}>
            <PolicyForm key={`${saves} ${JSON.stringify(value)}`} value={value} onChanged={changed} />
          </fieldset>
        )}
      </div>
    </>
  );
}

type Draft = Readonly<Record<Rule, boolean>> & { readonly min_length: string };

/** Only the rules that this page knows. */
const draftOf = (policy: Policy): Draft => ({
  ...(Object.fromEntries([...contains, ...refuses].map((rule) => [rule, policy[rule]])) as Record<Rule, boolean>),
  min_length: String(policy.min_length),
});

interface PolicyFormProps {
  readonly value: Stored;
  readonly onChanged: (text: string) => void;
}

function PolicyForm({ value: { policy, stored }, onChanged }: PolicyFormProps): ReactNode {
  const { policy: texts } = useTexts();
  const [draft, setDraft, before] = useDraft('policy', draftOf(policy));
  const { min_length: length, ...rules } = draft;
  const set = (values: Partial<Draft>) => setDraft({ ...draft, ...values });
  const [asking, setAsking] = useState(false);
  const count = Number(length);
  const wrong = !Number.isInteger(count) || count < 1 || count > longest;
  const labels = Object.fromEntries([...contains, ...refuses].map((rule) => [rule, texts.rules[rule].label]));
  const clash = useClash({
    ...{ before, now: draft, onTake: set, labels: { ...labels, min_length: texts.minLength } },
    load: async () => draftOf((await load()).policy),
  });
  const save = useTask(async () => {
    if (!(await clash.passes())) return;
    await admin.setSetting(group, key, JSON.stringify({ ...rules, min_length: count }));
    onChanged(texts.saved);
  });
  const check = (rule: Rule): ReactNode => (
    <CheckField
      key={rule}
      label={texts.rules[rule].label}
      hint={texts.rules[rule].hint}
      checked={rules[rule]}
      onChange={(on) => set({ [rule]: on })}
    />
  );
  return (
    <>
      <Form busy={save.busy} onSubmit={() => void (!wrong && save.run())}>
        <Failure error={save.error} />
        {clash.message}
        <Card title={texts.length}>
          <Field
            label={texts.minLength}
            type="number"
            inputMode="numeric"
            min={1}
            max={longest}
            value={length}
            onChange={(min_length) => set({ min_length })}
            error={wrong ? fill(texts.lengthWrong, { most: longest }) : undefined}
            className="short"
            required
          />
          {!wrong && count < 8 && <Message kind="warning">{texts.short}</Message>}
        </Card>
        <Card title={texts.contains}>{contains.map(check)}</Card>
        <Card title={texts.refuses}>{refuses.map(check)}</Card>
        <div className="actions start">
          <Submit label={texts.save} busy={save.busy} busyLabel={texts.saving} />
          {stored && (
            <button type="button" className="secondary" onClick={() => setAsking(true)}>
              {texts.reset}
            </button>
          )}
        </div>
      </Form>
      {asking && (
        <Dialog
          title={texts.resetAsk}
          action={texts.reset}
          run={async () => {
            await admin.removeSetting(group, key);
            await new Promise((resolve) => setTimeout(resolve, freshMs));
          }}
          onDone={() => onChanged(texts.resetDone)}
          onClose={() => setAsking(false)}
        >
          <p>{texts.resetEffect}</p>
        </Dialog>
      )}
    </>
  );
}
