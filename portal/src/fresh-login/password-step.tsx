import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type ConfirmationCode, ServiceError } from '@portal-auth/sdk';
import { auth } from '../auth';
import { PasswordField } from '../components/fields';
import { Form } from '../components/form';
import { Failure, Message } from '../components/message';
import { Submit } from '../components/submit';
import { useSpeech } from '../i18n/texts';
import { useTask } from '../use-task';
import type { FreshLoginProps } from './host';
import { PasskeyWay, usePasskey } from './passkey-way';

interface PasswordStepProps extends Omit<FreshLoginProps, 'onClose'> {
  /** The codes of the confirmation before this one are used up. */
  readonly ended: boolean;
  readonly onDone: (code?: ConfirmationCode) => void;
}

export function PasswordStep({ me, passkey, secondFactor, reason, ended, onDone }: PasswordStepProps): ReactNode {
  const { t } = useSpeech();
  const [password, setPassword] = useState('');
  const [checked, setChecked] = useState(false);
  const [wrong, setWrong] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  // The step can come back after the last code, in a dialog that is open already.
  useEffect(() => input.current?.focus(), []);
  const byPassword = useTask(async () => {
    try {
      onDone(await auth.reauthenticate({ password, secondFactor }));
    } catch (error) {
      setWrong(error instanceof ServiceError && error.code === 'LOGIN_401001' ? password : undefined);
      throw error;
    }
  });
  const byPasskey = usePasskey(onDone);
  const { error } = byPassword;
  const refused = error instanceof ServiceError ? error.code : undefined;
  const problem = () => {
    if (password === '') return checked ? t.login.passwordRequired : undefined;
    return password === wrong ? t.fresh.wrong : undefined;
  };
  return (
    <>
      <p className="note">{secondFactor ? t.fresh.factor : (reason ?? t.fresh.intro)}</p>
      <Form
        busy={byPassword.busy}
        onSubmit={() => {
          setChecked(true);
          byPasskey.reset();
          if (password !== '') void byPassword.run();
        }}
      >
        {ended && error === undefined && <Message kind="warning">{t.fresh.ended}</Message>}
        {refused !== 'LOGIN_401001' && (
          <Failure error={error} text={refused === 'AUTH_403001' ? t.fresh.noFactor : undefined} />
        )}
        <input type="text" name="username" autoComplete="username" value={me.login_name} readOnly hidden />
        <PasswordField
          label={t.login.password}
          name="password"
          value={password}
          onChange={setPassword}
          inputRef={input}
          autoComplete="current-password"
          error={problem()}
          required
        />
        <Submit label={t.fresh.submit} busy={byPassword.busy} busyLabel={t.code.busy} />
      </Form>
      {passkey && <PasskeyWay task={byPasskey} onStart={byPassword.reset} />}
    </>
  );
}
