import { type ReactNode, useEffect, useRef } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import type { Step } from '@portal-auth/sdk';
import { useAuth } from './auth';
import { Frame } from './components/frame';
import { AccountPage } from './pages/account-page';
import { CodePage } from './pages/code-page';
import { ForgotPage } from './pages/forgot-page';
import { LoginPage } from './pages/login-page';
import { MissingPage } from './pages/missing-page';
import { OutboxPage } from './pages/outbox-page';
import { ResetPage } from './pages/reset-page';
import { TotpPage } from './pages/totp-page';
import { paths } from './paths';

export function App(): ReactNode {
  useFocusOnNewPage();
  const { step } = useAuth();
  const only = (kind: Step['kind'], page: ReactNode) => (step.kind === kind ? page : <To path={placeOf(step)} />);
  return (
    <Frame>
      <Switch>
        <Route path={paths.login}>{only('signed-out', <LoginPage />)}</Route>
        <Route path={paths.code}>{only('code', <CodePage />)}</Route>
        <Route path={paths.account}>{only('signed-in', <AccountPage />)}</Route>
        <Route path={paths.totp}>{only('signed-in', <TotpPage />)}</Route>
        <Route path={paths.forgot}>
          <ForgotPage />
        </Route>
        <Route path={paths.reset}>
          <ResetPage />
        </Route>
        <Route path={paths.outbox}>
          <OutboxPage />
        </Route>
        <Route>
          <MissingPage />
        </Route>
      </Switch>
    </Frame>
  );
}

/** Where somebody belongs who stands there. */
function placeOf(step: Step): string {
  switch (step.kind) {
    case 'signed-out':
      return paths.login;
    case 'code':
      return paths.code;
    case 'password-change':
      return `${paths.reset}?uid=${encodeURIComponent(step.uid)}`;
    case 'signed-in':
      return paths.account;
  }
}

/** A redirect acts when it appears: without the key, a second one in the place of the first would not. */
const To = ({ path }: { readonly path: string }): ReactNode => <Redirect key={path} to={path} replace />;

/** The focus follows to the new page: to the field that waits for input, or to the heading, so that a screen reader tells it. */
function useFocusOnNewPage(): void {
  const [location] = useLocation();
  const shown = useRef(location);
  useEffect(() => {
    if (shown.current === location) return;
    shown.current = location;
    const { activeElement: active } = document;
    // A page that took the focus itself (`autoFocus`) keeps it.
    if (active?.closest('main') == null || active.matches('h1'))
      document.querySelector<HTMLElement>('main h1')?.focus();
  }, [location]);
}
