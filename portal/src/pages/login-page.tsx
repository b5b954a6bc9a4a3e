import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { Link } from 'wouter';
import { auth, useAuth } from '../auth';
import { Captcha, type CaptchaHandle } from '../components/captcha';
import { Field, PasswordField } from '../components/fields';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { Submit } from '../components/submit';
import { useSpeech } from '../i18n/texts';
import { paths } from '../paths';
import { useTask } from '../use-task';

const providers = ['password', 'ldap'] as const;
type Provider = (typeof providers)[number];

export function LoginPage(): ReactNode {
  const { t } = useSpeech();
  const { step, waiting } = useAuth();
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [provider, setProvider] = useState<Provider>('password');
  const [complaint, setComplaint] = useState<'required' | 'captchaFailed'>();
  const captcha = useRef<CaptchaHandle>(null);

  const login = useTask(async () => {
    const captchaToken = await captcha.current?.token();
    if (captchaToken === undefined) return setComplaint('captchaFailed');
    try {
      await auth.login({ username, password, provider, captchaToken });
    } catch (error) {
      captcha.current?.renew();
      throw error;
    }
  });

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const complete = username.trim() !== '' && password !== '';
    setComplaint(complete ? undefined : 'required');
    if (complete) void login.run();
  };

  const notice = step.kind === 'signed-out' ? step.notice : undefined;
  return (
    <Page title={t.login.title} intro={t.login.intro}>
      {notice !== undefined && login.error === undefined && (
        <Message kind={notice === 'password-changed' ? 'success' : 'info'}>{t.notices[notice]}</Message>
      )}
      {complaint === undefined ? <Failure error={login.error} /> : <Message kind="error">{t.login[complaint]}</Message>}
      <form onSubmit={submit} noValidate>
        <fieldset className="segments">
          <legend>{t.login.provider}</legend>
          {providers.map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="provider"
                value={one}
                checked={provider === one}
                onChange={() => setProvider(one)}
              />
              <span>{t.login.providers[one]}</span>
            </label>
          ))}
        </fieldset>
        <Field
          label={t.login.username}
          name="username"
          value={username}
          onChange={setUsername}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={255}
          required
        />
        <PasswordField
          label={t.login.password}
          name="password"
          value={password}
          onChange={setPassword}
          autoComplete="current-password"
          required
        />
        <div role="group" aria-label={t.login.captcha}>
          <Captcha ref={captcha} />
        </div>
        <Submit
          label={t.login.submit}
          busy={login.busy}
          busyLabel={t.login.busy}
          wait={waiting.login}
          waitLabel={t.login.wait}
        />
      </form>
      <p className="aside">
        <Link href={paths.forgot}>{t.login.forgot}</Link>
      </p>
    </Page>
  );
}
