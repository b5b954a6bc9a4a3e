import { type ReactNode, useId, useState } from 'react';
import { type PasswordPolicyResponse, ServiceError } from '@portal-auth/sdk';
import { useSpeech } from '../i18n/texts';
import { useAskBeforeLeaving } from '../unsaved';
import { useTask } from '../use-task';
import { PasswordField } from './fields';
import { Form } from './form';
import { Failure } from './message';
import { forbiddenOf, hintsOf, problemOf, Rules } from './password-rules';
import { Submit } from './submit';

interface Passwords {
  /** Empty unless the form asks for it. */
  readonly currentPassword: string;
  readonly password: string;
  readonly confirmation: string;
}

interface NewPasswordProps {
  readonly policy: PasswordPolicyResponse;
  /** Password managers store the new password for this name. */
  readonly username: string;
  /** Asks for the password in force as well. */
  readonly withCurrent?: boolean;
  readonly send: (passwords: Passwords) => Promise<void>;
  /** Asks this before the page is left with something typed. */
  readonly unsaved?: string;
  /** Shown after the submit button. */
  readonly children?: ReactNode;
}

/** Sends no password that breaks a rule of `GET /password-policy` that a page can judge (docs/spec/service.md#8). */
export function NewPassword({
  policy,
  username,
  withCurrent = false,
  unsaved,
  send,
  children,
}: NewPasswordProps): ReactNode {
  const { t, language } = useSpeech();
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const [confirmation, setConfirmation] = useState('');
  const [checked, setChecked] = useState(false);
  const [sent, setSent] = useState({ current: '', password: '' });
  useAskBeforeLeaving(unsaved !== undefined && current + password + confirmation !== '', unsaved ?? '');
  const rules = useId();
  const message = useId();

  const hints = hintsOf(policy, password, t);
  const same = password === confirmation;
  const save = useTask(() => {
    setSent({ current, password });
    return send({ currentPassword: current, password, confirmation });
  });
  const submit = () => {
    setChecked(true);
    const missing = withCurrent && current === '';
    if (hints.every(({ met }) => met) && same && !missing) void save.run();
    else save.reset();
  };

  const refusal = save.error instanceof ServiceError ? save.error : undefined;
  const refused = refusal?.code;
  const forbidden = forbiddenOf(policy, password === sent.password ? (refusal?.rules ?? []) : [], t);
  const wrongCurrent = withCurrent && refused === 'LOGIN_401001';
  const currentProblem =
    checked && current === ''
      ? t.login.passwordRequired
      : wrongCurrent && current === sent.current
        ? t.account.ownPassword.wrong
        : undefined;
  return (
    <Form busy={save.busy} onSubmit={submit}>
      {!wrongCurrent && (
        <Failure
          id={message}
          error={save.error}
          text={refused === 'AUTH_403001' ? t.account.ownPassword.elsewhere : undefined}
        />
      )}
      <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
      {withCurrent && (
        <PasswordField
          label={t.account.ownPassword.current}
          name="current-password"
          value={current}
          onChange={setCurrent}
          autoComplete="current-password"
          error={currentProblem}
          autoFocus
          required
        />
      )}
      <PasswordField
        label={t.reset.password}
        name="new-password"
        value={password}
        onChange={setPassword}
        autoComplete="new-password"
        describedBy={rules}
        error={checked ? problemOf(hints, forbidden, t, language) : undefined}
        errorId={refused === 'AUTH_400007' || refused === 'AUTH_401009' ? message : undefined}
        autoFocus={!withCurrent}
        required
      />
      <PasswordField
        label={t.reset.confirm}
        name="confirm-password"
        value={confirmation}
        onChange={setConfirmation}
        autoComplete="new-password"
        error={checked && !same ? t.errors.AUTH_401010 : undefined}
        required
      />
      <div className="rules" id={rules}>
        <Rules title={t.reset.rules} hints={[...hints, { met: password !== '' && same, text: t.reset.hints.same }]} />
        {forbidden.length > 0 && <Rules title={t.reset.mustNot} hints={forbidden} />}
      </div>
      <Submit label={t.reset.submit} busy={save.busy} busyLabel={t.reset.busy} />
      {children}
    </Form>
  );
}
