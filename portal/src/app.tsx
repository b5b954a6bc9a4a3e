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
import { target } from './tab-memory';

export function App(): ReactNode {
  useFocusOnNewPage();
  const [location] = useLocation();
  const { step } = useAuth();
  const only = (kind: Step['kind'], page: ReactNode) =>
    step.kind === kind ? page : <To path={placeOf(step)} from={location} />;
  useEffect(() => {
    if (step.kind === 'signed-in' && location === target.get()) target.set(undefined);
  }, [step.kind, location]);
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

/** The page to redirect to when the state of the login does not match the current page. */
function placeOf(step: Step): string {
  switch (step.kind) {
    case 'signed-out':
      return paths.login;
    case 'code':
      return paths.code;
    case 'password-change':
      return `${paths.reset}?uid=${encodeURIComponent(step.uid)}`;
    case 'signed-in':
      return target.get() ?? paths.account;
  }
}

/** `Redirect` acts only when it is mounted. The key mounts it again when a second redirect follows the first. */
function To({ path, from }: { readonly path: string; readonly from: string }): ReactNode {
  const protectedPage = from === paths.account || from === paths.totp;
  useEffect(() => {
    if (protectedPage) target.set(from);
  }, [protectedPage, from]);
  return <Redirect key={path} to={path} replace />;
}

/** Moves the focus to the heading of a new page for screen readers. A field with `autoFocus` keeps it. */
function useFocusOnNewPage(): void {
  const [location] = useLocation();
  const shown = useRef(location);
  useEffect(() => {
    if (shown.current === location) return;
    shown.current = location;
    const { activeElement: active } = document;
    if (active?.closest('main') == null || active.matches('h1'))
      document.querySelector<HTMLElement>('main h1')?.focus();
  }, [location]);
}
