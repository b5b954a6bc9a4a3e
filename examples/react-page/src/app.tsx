import { useEffect, useState } from 'react';
import type { MeResponse, Snapshot } from '@portal-auth/sdk';
import { auth, textOf, useAuth } from './auth';
import { solveCaptcha } from './captcha';
import { Field, Form, text } from './form';

/** The SDK knows which step of the login the user is at, also after a reload. */
export function App() {
  const { step, waiting } = useAuth();
  switch (step.kind) {
    case 'signed-out':
      return <SignIn wait={waiting.login} />;
    case 'code':
      return <Code waiting={waiting} />;
    case 'password-change':
      return <NewPassword uid={step.uid} />;
    case 'signed-in':
      return <Account />;
  }
}

function SignIn({ wait }: { readonly wait: number }) {
  const signIn = async (data: FormData) => {
    const captchaToken = await solveCaptcha();
    await auth.login({ username: text(data, 'username'), password: text(data, 'password'), captchaToken });
  };
  return (
    <Form title="Sign in" submit="Sign in" wait={wait} action={signIn}>
      <Field label="User name" name="username" autoComplete="username" />
      <Field label="Password" name="password" type="password" autoComplete="current-password" />
    </Form>
  );
}

function Code({ waiting }: Pick<Snapshot, 'waiting'>) {
  const [problem, setProblem] = useState<string>();
  const resend = () => void auth.resendCode().catch((error: unknown) => setProblem(textOf(error)));
  return (
    <>
      <Form
        title="Enter your code"
        submit="Confirm"
        wait={waiting.code}
        action={(data) => auth.verifyCode(text(data, 'code'))}
      >
        <Field label="Code" name="code" autoComplete="one-time-code" />
      </Form>
      {problem !== undefined && <p role="alert">{problem}</p>}
      <button onClick={resend} disabled={waiting.resend > 0}>
        Send another code
      </button>
      <button onClick={() => auth.backToLogin()}>Back</button>
    </>
  );
}

/** A password that an administrator has set, or that has expired, must be changed before the first sign-in. */
function NewPassword({ uid }: { readonly uid: string }) {
  const save = (data: FormData) => auth.changePassword(uid, text(data, 'password'), text(data, 'confirmation'));
  return (
    <Form title="Choose a new password" submit="Save" action={save}>
      <Field label="New password" name="password" type="password" autoComplete="new-password" />
      <Field label="Repeat it" name="confirmation" type="password" autoComplete="new-password" />
    </Form>
  );
}

function Account() {
  const [me, setMe] = useState<MeResponse>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    auth.me().then(setMe, (error: unknown) => setProblem(textOf(error)));
  }, []);
  return (
    <>
      <h1>{me === undefined ? 'Your account' : `Hello, ${me.login_name}`}</h1>
      {problem !== undefined && <p role="alert">{problem}</p>}
      {me !== undefined && (
        <dl>
          <dt>E-mail</dt>
          <dd>{me.email}</dd>
          <dt>Second factor</dt>
          <dd>{me.mfa_type}</dd>
        </dl>
      )}
      <button onClick={() => void auth.logout()}>Sign out</button>
    </>
  );
}
