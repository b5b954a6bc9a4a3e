import { sessionId } from '../../lib/session';
import { sessions } from '../../lib/store';
import { Captcha } from './captcha';

const texts: Record<string, string> = {
  LOGIN_401001: 'The user name or password is wrong.',
  LOGIN_401004: 'The account is locked. Try again later.',
  MFA_401001: 'The code is wrong.',
  AUTH_MFA_401001: 'The code is wrong.',
  'change-password': 'Choose a new password in the portal first.',
};

/** A problem is a code in the address. A text there could be anybody's. */
export default async function SignIn({ searchParams }: { searchParams: Promise<{ problem?: string }> }) {
  const { problem } = await searchParams;
  const id = await sessionId();
  const session = id === undefined ? undefined : await sessions().read(id);
  const step = session?.kind === 'code' ? <Code /> : <Password />;
  return (
    <>
      {problem !== undefined && <p role="alert">{texts[problem] ?? 'This did not work. Try again.'}</p>}
      {step}
    </>
  );
}

function Password() {
  return (
    <form action="/session" method="post">
      <h1>Sign in</h1>
      <p>
        <label>
          User name <input name="username" autoComplete="username" required />
        </label>
      </p>
      <p>
        <label>
          Password <input name="password" type="password" autoComplete="current-password" required />
        </label>
      </p>
      <Captcha />
      <button>Sign in</button>
    </form>
  );
}

function Code() {
  return (
    <>
      <form action="/session/code" method="post">
        <h1>Enter your code</h1>
        <p>
          <label>
            Code <input name="code" autoComplete="one-time-code" required />
          </label>
        </p>
        <button>Confirm</button>
      </form>
      <form action="/session/end" method="post">
        <button>Back</button>
      </form>
    </>
  );
}
