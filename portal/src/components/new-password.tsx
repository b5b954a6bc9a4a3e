import { type ReactNode, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { passwordHints, type PasswordPolicyResponse, ServiceError } from '@portal-auth/sdk';
import { auth } from '../auth';
import type { Texts } from '../i18n/en';
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

/** The rules that only the service can judge. */
const forbidding = ['forbid_common', 'forbid_own_data', 'breach_check'] as const;

/** Sends no password that breaks a rule of `GET /password-policy` that a page can judge (docs/spec/service.md#8). */
export function NewPassword({ uid, policy, isEnd, onEnd }: NewPasswordProps): ReactNode {
  const { t, language } = useSpeech();
  const [, navigate] = useLocation();
  const [password, setPassword] = useState('');
  const [confirmation, setConfirmation] = useState('');
  const [checked, setChecked] = useState(false);
  const [sent, setSent] = useState('');
  const rules = useId();
  const message = useId();

  const hints = passwordHints(policy, password).map(({ rule, met }) => ({
    met,
    text: fill(t.reset.hints[rule], { count: policy.min_length }),
  }));
  const broken = hints.filter(({ met }) => !met).map(({ text }) => text);
  const same = password === confirmation;

  const save = useTask(async () => {
    setSent(password);
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

  const refusal = save.error instanceof ServiceError ? save.error : undefined;
  const refused = refusal?.code;
  const forbidden = forbidding
    .filter((rule) => policy[rule])
    .map((rule) => ({
      text: t.reset.forbidden[rule],
      met: password === sent && refusal?.rules.includes(rule) ? false : undefined,
    }));
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
        error={checked ? problemOf(broken, forbidden, t, language) : undefined}
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
      <div className="rules" id={rules}>
        <Rules title={t.reset.rules} hints={[...hints, { met: password !== '' && same, text: t.reset.hints.same }]} />
        {forbidden.length > 0 && <Rules title={t.reset.mustNot} hints={forbidden} />}
      </div>
      <Submit label={t.reset.submit} busy={save.busy} busyLabel={t.reset.busy} />
    </Form>
  );
}

interface Hint {
  readonly text: string;
  /** Undefined until the service has judged the password. */
  readonly met: boolean | undefined;
}

function problemOf(broken: readonly string[], forbidden: readonly Hint[], t: Texts, language: string) {
  const list = new Intl.ListFormat(language);
  if (broken.length > 0) return fill(t.reset.broken, { rules: list.format(broken) });
  const refused = forbidden.filter(({ met }) => met === false).map(({ text }) => text);
  return refused.length > 0 ? fill(t.reset.refused, { rules: list.format(refused) }) : undefined;
}

function Rules({ title, hints }: { readonly title: string; readonly hints: readonly Hint[] }): ReactNode {
  const { t } = useSpeech();
  return (
    <>
      <p>{title}</p>
      <ul>
        {hints.map(({ text, met }) => (
          <li key={text} className={met ? 'met' : undefined}>
            {met ? <Check /> : <Dot />}
            {text}
            <span className="heard">, {met === undefined ? t.reset.later : met ? t.reset.met : t.reset.unmet}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
