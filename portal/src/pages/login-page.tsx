import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
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
import { ProviderButtons } from '../components/provider-buttons';
import { Submit } from '../components/submit';
import { useProviderLogin } from '../external/use-provider-login';
import { fill, inARow, useSpeech } from '../i18n/texts';
import { findOffer, useOffer } from '../offer';
import { usePasskeySupport } from '../passkey-support';
import { paths } from '../paths';
import { passwordLogin, passwordSet, typedName } from '../tab-memory';
import { useKeyFailure } from '../use-key-failure';
import { usePasskeyLogin } from '../use-passkey-login';
import { useTask } from '../use-task';

const nobody = { name: '', first: false };

/** Only an administrator opens these accounts. */
const closed: readonly string[] = ['LOGIN_401008', 'LOGIN_401011', 'LOGIN_401012'];

export function LoginPage(): ReactNode {
  const { t } = useSpeech();
  const { step, waiting } = useAuth();
  const { login_by_email: byEmail, password_reset: canReset, login_discovery: nameFirst, brand } = useOffer();
  const { support_url } = brand;
  const notice = step.kind === 'signed-out' ? step.notice : undefined;
  // The page of the new password has just led here, and knows whose password it was.
  const [{ name: named, first }] = useState(() => (notice === 'password-changed' && passwordSet.get()) || nobody);
  const [username, setUsername] = useState(named);
  const [password, setPassword] = useState('');
  const [checked, setChecked] = useState(false);
  // Where the name tells the way to sign in, the password is asked for after it.
  const [asked, setAsked] = useState(named !== '');
  const concealed = nameFirst && !asked && password === '';
  const passwordInput = useRef<HTMLInputElement>(null);
  const message = useId();
  const support = usePasskeySupport();
  const passkey = usePasskeyLogin(support);
  const elsewhere = useProviderLogin();
  const keyFailure = useKeyFailure();
  useEffect(() => {
    if (asked) passwordInput.current!.focus();
  }, [asked]);

  /** Leads a user of an identity provider there, and asks everybody else for the password. */
  const hasPassword = async (): Promise<boolean> => {
    if (!(await findOffer()).login_discovery) return true;
    const { identity_provider: provider } = await auth.discover(username);
    if (provider !== null) {
      // A password that was typed, or filled in, belongs to the provider. It is sent nowhere.
      setPassword('');
      await elsewhere.go(provider);
      return false;
    }
    setChecked(false);
    setAsked(true);
    return password !== '';
  };
  const attempt = async () => {
    const captchaToken = await captcha.take();
    // The name tells the service which kind of account it is.
    const provider = (await findOffer()).providers.length > 1 ? 'auto' : 'password';
    await auth.login({ username, password, provider, captchaToken });
  };
  const login = useTask(async () => {
    typedName.set(username);
    if (!(await hasPassword())) return;
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

  const missing = { username: username.trim() === '', password: password === '' && !concealed };
  const submit = () => {
    setChecked(true);
    passkey.reset();
    if (missing.username || missing.password) login.reset();
    else void login.run();
  };

  const busy = login.busy || elsewhere.leaving !== undefined;
  const code = codeOf(login.error);
  /** What helps now, where the message alone does not say it. */
  const wayOn = (error: unknown): ReactNode => {
    if (error instanceof CaptchaError) {
      return (
        <button type="submit" className="link">
          {t.reset.retry}
        </button>
      );
    }
    if (code === 'LOGIN_401004' && canReset) return <Link href={paths.forgot}>{t.login.unlock}</Link>;
    const helps = code !== undefined && closed.includes(code) && typeof support_url === 'string';
    return helps && <a href={support_url}>{t.support.link}</a>;
  };
  return (
    <Page title={t.login.title} intro={first ? undefined : t.login.intro}>
      {notice !== undefined && login.error === undefined && passkey.error === undefined && (
        <Message kind={notice === 'password-changed' || notice === 'logout-heard' ? 'success' : 'info'}>
          {inARow(
            first ? t.login.first : t.notices[notice],
            named === '' ? undefined : fill(t.login.elsewhere, { address: location.origin, name: named }),
          )}
        </Message>
      )}
      {login.error === undefined && <Failure error={keyFailure} />}
      <Form busy={busy} onSubmit={submit} onFocus={() => captcha.prepare()}>
        <Failure id={message} error={login.error}>
          {wayOn(login.error)}
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
          autoFocus={named === ''}
          required
        />
        <PasswordField
          label={t.login.password}
          name="password"
          value={password}
          onChange={setPassword}
          inputRef={passwordInput}
          concealed={concealed}
          error={checked && missing.password ? t.login.passwordRequired : undefined}
          errorId={code === 'LOGIN_401001' ? message : undefined}
          autoComplete="current-password"
          autoFocus={named !== ''}
          required
        />
        <div className="captcha" ref={captcha.place} />
        <Submit
          label={concealed ? t.login.next : t.login.submit}
          busy={busy}
          busyLabel={t.login.busy}
          wait={waiting.login}
          waitLabel={t.login.wait}
        />
      </Form>
      {support.passkeys && <PasskeyLogin login={passkey} />}
      <ProviderButtons login={elsewhere} />
      {canReset && (
        <p className="aside">
          <Link href={paths.forgot}>{t.login.forgot}</Link>
        </p>
      )}
    </Page>
  );
}

const codeOf = (error: unknown): string | undefined => (error instanceof ServiceError ? error.code : undefined);
