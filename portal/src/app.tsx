import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import type { Step } from '@portal-auth/sdk';
import { useAuth } from './auth';
import { Frame } from './components/frame';
import { later } from './components/later';
import { FreshLoginHost } from './fresh-login/host';
import { PageBoundary } from './components/page-boundary';
import { useArrival } from './external/arrival';
import { LoginPage } from './pages/login-page';
import { useOffer } from './offer';
import { accountSections, paths } from './paths';
import { pathOf } from './return-to';
import { homeOf, passwordLogin, target } from './tab-memory';

/** The login page is in the first script. Each other page is a script of its own, loaded when it is shown. */
const code = later(async () => (await import('./pages/code-page')).CodePage);
const account = later(async () => (await import('./pages/account-page')).AccountPage);
const external = later(async () => (await import('./pages/external-page')).ExternalPage);
const welcome = later(async () => (await import('./pages/welcome-page')).WelcomePage);
const interaction = later(async () => (await import('./pages/interaction-page')).InteractionPage);
const device = later(async () => (await import('./pages/device-page')).DevicePage);
const totp = later(async () => (await import('./pages/totp-page')).TotpPage);
const forgot = later(async () => (await import('./pages/forgot-page')).ForgotPage);
const reset = later(async () => (await import('./pages/reset-page')).ResetPage);
const outbox = later(async () => (await import('./pages/outbox-page')).OutboxPage);
const admin = later(async () => (await import('./admin/admin-page')).AdminPage);
const missing = later(async () => (await import('./pages/missing-page')).MissingPage);

/** Pages of the router. Any other target is a full page load. */
const ownPages: readonly string[] = Object.values(paths);
const isOwnPage = (target: string): boolean => target.startsWith('/') && ownPages.includes(pathOf(target));

/** Pages that only a signed-in user sees. */
const protectedPages: readonly string[] = [...accountSections, paths.totp, paths.interaction, paths.admin];

/** One route for all sections, so that the account page stays when the user goes from one to another. */
const sections = new RegExp(`^(?:${accountSections.join('|')})/?$`, 'i');

export function App(): ReactNode {
  return (
    <>
      <Pages />
      <FreshLoginHost />
    </>
  );
}

function Pages(): ReactNode {
  useFocusOnNewPage();
  const [location] = useLocation();
  const { step } = useAuth();
  const arrival = useArrival();
  const { home_url: homeUrl, settled } = useOffer();
  const hasLeft = useHasLeft(step);
  const elsewhere = <To path={placeOf(step, homeOf(homeUrl))} from={location} forget={hasLeft && homeUrl !== null} />;
  // Until the service has told its home page, a login without another target stays where it is.
  const knowsWay = step.kind !== 'signed-in' || settled || target.get() !== undefined;
  const only = (kind: Step['kind'], page: ReactNode) => (step.kind === kind ? page : knowsWay && elsewhere);
  useEffect(() => {
    const wanted = target.get();
    if (step.kind === 'signed-in' && wanted !== undefined && pathOf(wanted) === location) target.set(undefined);
  }, [step.kind, location]);
  // The pages that follow a login are fetched while the user types.
  useEffect(() => {
    if (location === paths.login) for (const page of [code, welcome, account]) page.fetch().catch(() => undefined);
  }, [location]);
  // The console has a frame of its own.
  if (location === paths.admin && step.kind === 'signed-in')
    return (
      <PageBoundary key={location} frame={Frame}>
        <admin.Page />
      </PageBoundary>
    );
  return (
    <Frame>
      <PageBoundary key={sections.test(location) ? paths.account : location}>
        <Switch>
          <Route path={paths.login}>
            {arrival === undefined ? only('signed-out', <LoginPage />) : <external.Page />}
          </Route>
          <Route path={paths.code}>{only('code', <code.Page />)}</Route>
          <Route path={paths.welcome}>{only('signed-in', <welcome.Page />)}</Route>
          <Route path={sections}>{only('signed-in', <account.Page />)}</Route>
          <Route path={paths.interaction}>{only('signed-in', <interaction.Page />)}</Route>
          <Route path={paths.device}>
            <device.Page />
          </Route>
          <Route path={paths.totp}>{only('signed-in', <totp.Page />)}</Route>
          <Route path={paths.admin}>{elsewhere}</Route>
          <Route path={paths.forgot}>
            <forgot.Page />
          </Route>
          <Route path={paths.reset}>
            <reset.Page />
          </Route>
          <Route path={paths.outbox}>
            <outbox.Page />
          </Route>
          <Route>
            <missing.Page />
          </Route>
        </Switch>
      </PageBoundary>
    </Frame>
  );
}

/** The page to redirect to when the state of the login does not match the current page. */
function placeOf(step: Step, home: string | undefined): string {
  switch (step.kind) {
    case 'signed-out':
      return paths.login;
    case 'code':
      return paths.code;
    case 'password-change':
      return `${paths.reset}?uid=${encodeURIComponent(step.uid)}`;
    case 'signed-in':
      // The welcome page goes on at once when nothing is missing.
      return passwordLogin.get() === undefined ? (target.get() ?? home ?? paths.account) : paths.welcome;
  }
}

/** Whether the user was signed in here and has signed out, in this tab or in another one. */
function useHasLeft(step: Step): boolean {
  const wasIn = useRef(false);
  useEffect(() => {
    wasIn.current = step.kind === 'signed-in';
  }, [step.kind]);
  return wasIn.current && step.kind === 'signed-out' && step.notice !== 'session-ended';
}

interface ToProps {
  readonly path: string;
  readonly from: string;
  /** The next login leads to the home page, and not back to this page. */
  readonly forget: boolean;
}

/** `Redirect` acts only when it is mounted. The key mounts it again when a second redirect follows the first. */
function To({ path, from, forget }: ToProps): ReactNode {
  const elsewhere = !isOwnPage(path);
  // Keeps this page empty until the browser has loaded the other page, although the target is already cleared.
  const leaving = useRef(false);
  leaving.current ||= elsewhere;
  const [keeps] = useState(!forget);
  const protectedPage = keeps && protectedPages.includes(from);
  // The redirect clears the fragment, which is the place in the console.
  const [fragment] = useState(() => window.location.hash);
  useEffect(() => {
    // A fragment that the page has stored leads to a part of the same page.
    if (protectedPage && pathOf(target.get() ?? paths.login) !== from) target.set(from + fragment);
  }, [protectedPage, from, fragment]);
  useEffect(() => {
    if (!elsewhere) return;
    target.set(undefined);
    // Replaces the history entry of the login page. Otherwise the Back button would redirect to this target again.
    window.location.replace(path);
  }, [elsewhere, path]);
  return leaving.current ? null : <Redirect key={path} to={path} replace />;
}

/** Moves the focus to the heading of a new page for screen readers. A field with `autoFocus` keeps the focus. */
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
