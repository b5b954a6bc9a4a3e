import { type ReactNode, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { passwordHints, type PasswordPolicyResponse, ServiceError } from '@portal-auth/sdk';
import { auth } from '../auth';
import { fill, useSpeech } from '../i18n/texts';
import { paths } from '../paths';
import { typedName } from '../tab-memory';
import { useTask } from '../use-task';
import { PasswordField } from './fields';
import { Form } from './form';
import { Check, Dot } from './icons';
import { Failure } from './message';
import { Submit } from './submit';

interface NewPasswordProps {
  readonly uid: string;
  readonly policy: PasswordPolicyResponse;
  /** The request cannot be used any more. */
  readonly isEnd: (error: unknown) => boolean;
  readonly onEnd: (error: unknown) => void;
}

/** Sends no password that breaks a rule of `GET /password-policy` (docs/spec/service.md#8). */
export function NewPassword({ uid, policy, isEnd, onEnd }: NewPasswordProps): ReactNode {
  const { t, language } = useSpeech();
  const [, navigate] = useLocation();
  const [password, setPassword] = useState('');
  const [confirmation, setConfirmation] = useState('');
  const [checked, setChecked] = useState(false);
  const rules = useId();
  const message = useId();

  const hints = passwordHints(policy, password).map(({ rule, met }) => ({
    met,
    text: fill(t.reset.hints[rule], { count: policy.min_length }),
  }));
  const broken = hints.filter(({ met }) => !met).map(({ text }) => text);
  const same = password === confirmation;

  const save = useTask(async () => {
    try {
      await auth.changePassword(uid, password, confirmation);
    } catch (error) {
      if (isEnd(error)) onEnd(error);
      throw error;
    }
    typedName.set(undefined);
    navigate(paths.login, { replace: true });
  });
  const submit = () => {
    setChecked(true);
    if (broken.length === 0 && same) void save.run();
    else save.reset();
  };

  const list = new Intl.ListFormat(language).format(broken);
  const refused = save.error instanceof ServiceError ? save.error.code : undefined;
  return (
    <Form busy={save.busy} onSubmit={submit}>
      <Failure id={message} error={save.error} />
      {/* Password managers store the new password for this name. */}
      <input type="text" name="username" autoComplete="username" value={typedName.get() ?? ''} readOnly hidden />
      <PasswordField
        label={t.reset.password}
        name="new-password"
        value={password}
        onChange={setPassword}
        autoComplete="new-password"
        describedBy={rules}
        error={checked && broken.length > 0 ? fill(t.reset.broken, { rules: list }) : undefined}
        errorId={refused === 'AUTH_400007' || refused === 'AUTH_401009' ? message : undefined}
        autoFocus
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
      <Rules id={rules} hints={[...hints, { met: password !== '' && same, text: t.reset.hints.same }]} />
      <Submit label={t.reset.submit} busy={save.busy} busyLabel={t.reset.busy} />
    </Form>
  );
}

interface RulesProps {
  readonly id: string;
  readonly hints: readonly { readonly met: boolean; readonly text: string }[];
}

function Rules({ id, hints }: RulesProps): ReactNode {
  const { t } = useSpeech();
  return (
    <div className="rules" id={id}>
      <p>{t.reset.rules}</p>
      <ul>
        {hints.map(({ text, met }) => (
          <li key={text} className={met ? 'met' : undefined}>
            {met ? <Check /> : <Dot />}
            {text}
            <span className="heard">, {met ? t.reset.met : t.reset.unmet}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
