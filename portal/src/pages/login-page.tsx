import { type ReactNode, useId, useState } from 'react';
import { Link } from 'wouter';
import { ServiceError } from '@portal-auth/sdk';
import { auth, useAuth } from '../auth';
import { captcha } from '../captcha';
import { CaptchaError } from '../captcha/captcha-error';
import { Field, PasswordField } from '../components/fields';
import { Form } from '../components/form';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { PasskeyLogin } from '../components/passkey-login';
import { Submit } from '../components/submit';
import { useSpeech } from '../i18n/texts';
import { findOffer, useOffer } from '../offer';
import { usePasskeySupport } from '../passkey-support';
import { paths } from '../paths';
import { passwordLogin, typedName } from '../tab-memory';
import { usePasskeyLogin } from '../use-passkey-login';
import { useTask } from '../use-task';

export function LoginPage(): ReactNode {
  const { t } = useSpeech();
  const { step, waiting } = useAuth();
  const { login_by_email: byEmail, password_reset: canReset } = useOffer();
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [checked, setChecked] = useState(false);
  const message = useId();
  const support = usePasskeySupport();
  const passkey = usePasskeyLogin(support);

  const attempt = async () => {
    const captchaToken = await captcha.take();
    // The name tells the service which kind of account it is.
    const provider = (await findOffer()).providers.length > 1 ? 'auto' : 'password';
    await auth.login({ username, password, provider, captchaToken });
  };
  const login = useTask(async () => {
    typedName.set(username);
    passwordLogin.set('yes');
    try {
      // The service can refuse a token as too old although it was fresh here, for example after the computer slept.
      await attempt().catch((error: unknown) => {
        if (codeOf(error) !== 'CAPTCHA_401001') throw error;
        return attempt();
      });
    } catch (error) {
      passwordLogin.set(undefined);
      captcha.prepare();
      throw error;
    }
  });

  const missing = { username: username.trim() === '', password: password === '' };
  const submit = () => {
    setChecked(true);
    passkey.reset();
    if (missing.username || missing.password) login.reset();
    else void login.run();
  };

  const notice = step.kind === 'signed-out' ? step.notice : undefined;
  const code = codeOf(login.error);
  return (
    <Page title={t.login.title} intro={t.login.intro}>
      {notice !== undefined && login.error === undefined && passkey.error === undefined && (
        <Message kind={notice === 'password-changed' || notice === 'logout-heard' ? 'success' : 'info'}>
          {t.notices[notice]}
        </Message>
      )}
      <Form busy={login.busy} onSubmit={submit} onFocus={() => captcha.prepare()}>
        <Failure id={message} error={login.error}>
          {login.error instanceof CaptchaError && (
            <button type="submit" className="link">
              {t.reset.retry}
            </button>
          )}
        </Failure>
        <Field
          label={byEmail ? t.login.usernameOrEmail : t.login.username}
          name="username"
          value={username}
          onChange={setUsername}
          error={checked && missing.username ? t.login.usernameRequired : undefined}
          errorId={code === 'LOGIN_404001' ? message : undefined}
          autoComplete={support.autofill ? 'username webauthn' : 'username'}
          autoCapitalize="none"
          spellCheck={false}
          maxLength={255}
          autoFocus
          required
        />
        <PasswordField
          label={t.login.password}
          name="password"
          value={password}
          onChange={setPassword}
          error={checked && missing.password ? t.login.passwordRequired : undefined}
          errorId={code === 'LOGIN_401001' ? message : undefined}
          autoComplete="current-password"
          required
        />
        <div className="captcha" ref={captcha.place} />
        <Submit
          label={t.login.submit}
          busy={login.busy}
          busyLabel={t.login.busy}
          wait={waiting.login}
          waitLabel={t.login.wait}
        />
      </Form>
      {support.passkeys && <PasskeyLogin login={passkey} />}
      {canReset && (
        <p className="aside">
          <Link href={paths.forgot}>{t.login.forgot}</Link>
        </p>
      )}
    </Page>
  );
}

const codeOf = (error: unknown): string | undefined => (error instanceof ServiceError ? error.code : undefined);
