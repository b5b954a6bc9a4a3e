import { type ReactNode, useState } from 'react';
import { auth } from '../auth';
import { Form } from '../components/form';
import { FormActions } from '../components/form-actions';
import { PasskeyFailure } from '../components/passkey-failure';
import { useSpeech } from '../i18n/texts';
import { useTask } from '../use-task';
import { deviceName } from './device-name';
import { PasskeyName } from './passkey-name';

interface AddPasskeyProps {
  readonly onAdded: (name: string) => void;
  readonly onCancel: () => void;
}

/** Asks for a name, which the device suggests, and then lets the browser make the passkey. */
export function AddPasskey({ onAdded, onCancel }: AddPasskeyProps): ReactNode {
  const { t } = useSpeech();
  const { passkeys: texts } = t.account;
  const [name, setName] = useState(() => deviceName(navigator.userAgent, t));
  const [checked, setChecked] = useState(false);
  const add = useTask(async () => {
    onAdded((await auth.withFreshLogin(() => auth.registerPasskey(name.trim()))).name);
  });
  const submit = () => {
    setChecked(true);
    if (name.trim() !== '') void add.run();
  };
  return (
    <Form busy={add.busy} onSubmit={submit}>
      <PasskeyFailure error={add.error} cancelled={texts.cancelled} />
      <PasskeyName name={name} onChange={setName} checked={checked} />
      <FormActions label={texts.continue} busy={add.busy} busyLabel={texts.busy} onCancel={onCancel} />
    </Form>
  );
}
