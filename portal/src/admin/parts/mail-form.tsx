import { type ReactNode, useId, useState } from 'react';
import type { AdminSetting } from '@portal-auth/sdk/admin';
import { Field, PasswordField } from '../../components/fields';
import { Form } from '../../components/form';
import { Failure } from '../../components/message';
import { Submit } from '../../components/submit';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { useDraft } from '../use-draft';
import { Card } from './card';
import { useClash } from './clash';
import { CheckField, SelectField } from './fields';

const group = 'SMTP';
const keys = ['HOST', 'PORT', 'TLS', 'SENDER', 'USER'] as const;
type Key = (typeof keys)[number];

interface MailFormProps {
  readonly settings: readonly AdminSetting[];
  readonly onSaved: () => void;
}

/** Sends each changed setting. An empty field removes its setting. The password is written and never read. */
export function MailForm({ settings, onSaved }: MailFormProps): ReactNode {
  const { mail: texts } = useTexts();
  const hint = useId();
  const secretSet = settings.find(({ key }) => key === 'SECRET')?.set ?? false;
  const [secret, setSecret] = useState('');
  const [remove, setRemove] = useState(false);
  const [now, setNow, before] = useDraft('mail', valuesOf(settings), {
    asks: (_, changed) => changed || secret !== '' || remove,
  });
  const set = (key: Key) => (value: string) => setNow({ ...now, [key]: value });
  const clash = useClash({
    ...{ before, now, onTake: (saved: Partial<typeof now>) => setNow({ ...now, ...saved }) },
    load: async () => valuesOf((await admin.settings()).filter((one) => one.group === group)),
    labels: { HOST: texts.host, PORT: texts.port, TLS: texts.tls, SENDER: texts.sender, USER: texts.user },
  });
  const save = useTask(async () => {
    if (!(await clash.passes())) return;
    for (const key of keys) {
      const value = now[key].trim();
      if (value === before[key]) continue;
      if (value === '') await admin.removeSetting(group, key);
      else await admin.setSetting(group, key, value);
    }
    if (remove) await admin.removeSetting(group, 'SECRET');
    else if (secret !== '') await admin.setSetting(group, 'SECRET', secret);
    onSaved();
  });
  const fields = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false, maxLength: 255 } as const;
  return (
    <Form busy={save.busy} onSubmit={() => void save.run()}>
      <Failure error={save.error} />
      {clash.message}
      <Card title={texts.server}>
        <div className="side-by-side">
          <Field
            label={texts.host}
            value={now.HOST}
            onChange={set('HOST')}
            placeholder="smtp.example.com"
            {...fields}
          />
          <Field
            label={texts.port}
            value={now.PORT}
            onChange={set('PORT')}
            inputMode="numeric"
            placeholder="587"
            {...fields}
          />
        </div>
        <SelectField
          label={texts.tls}
          value={now.TLS}
          options={[
            ['', texts.tlsModes.unset],
            ...(['starttls', 'tls', 'none'] as const).map((one) => [one, texts.tlsModes[one]] as const),
          ]}
          onChange={set('TLS')}
        />
        <Field
          label={texts.sender}
          value={now.SENDER}
          onChange={set('SENDER')}
          placeholder="Portal <portal@example.com>"
          {...fields}
        />
      </Card>
      <Card title={texts.login} note={texts.loginHint}>
        <Field label={texts.user} value={now.USER} onChange={set('USER')} {...fields} />
        <PasswordField
          label={texts.secret}
          value={secret}
          onChange={setSecret}
          autoComplete="new-password"
          describedBy={hint}
          disabled={remove}
        />
        <p className="note" id={hint}>
          {secretSet ? texts.secretSet : texts.secretUnset}
        </p>
        {secretSet && <CheckField label={texts.secretRemove} checked={remove} onChange={setRemove} />}
      </Card>
      <div className="actions start">
        <Submit label={texts.save} busy={save.busy} busyLabel={texts.saving} />
      </div>
    </Form>
  );
}

const valuesOf = (settings: readonly AdminSetting[]): Record<Key, string> =>
  Object.fromEntries(keys.map((key) => [key, settings.find((one) => one.key === key)?.value ?? ''])) as Record<
    Key,
    string
  >;
