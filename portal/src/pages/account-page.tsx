import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, Redirect, useLocation } from 'wouter';
import type { MeResponse } from '@portal-auth/sdk';
import { TextsProvider, useTexts } from '../account/i18n/texts';
import { useInstallation } from '../account/installation';
import { focusTitle } from '../account/panel';
import { cards } from '../account/section-cards';
import { sectionAt, sectionOfCard } from '../account/sections';
import { Side } from '../account/side';
import { auth, useAuth } from '../auth';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { fill, useSpeech } from '../i18n/texts';
import { paths } from '../paths';
import { useTask } from '../use-task';
import '../styles/account.css';
import '../styles/account-sections.css';

/** The account and its safety, in sections with an address each. */
export function AccountPage(): ReactNode {
  return (
    <TextsProvider>
      <Account />
    </TextsProvider>
  );
}

function Account(): ReactNode {
  const { t } = useSpeech();
  const texts = useTexts();
  const { tabOnly } = useAuth();
  const { settled } = useInstallation();
  const [location] = useLocation();
  const section = sectionAt(location);
  const [me, setMe] = useState<MeResponse>();
  const load = useTask(async () => setMe(await auth.me()));
  const { run } = load;
  useEffect(() => void run(), [run]);
  const confirmed = useConfirmation(section.path);
  useFocusOnNewSection(section.path);

  const asked = sectionOfCard(window.location.hash.slice(1));
  if (asked !== undefined && asked !== section) return <Redirect to={asked.path + window.location.hash} replace />;

  const name = me?.nickname ?? me?.login_name;
  const hello = name === undefined ? t.account.title : fill(t.account.hello, { name });
  const first = section.path === paths.account;
  const Cards = cards[section.name];
  // What matters here is not known before the offer, and a card that appears late would move the others.
  const ready = me !== undefined && settled;
  return (
    <div className="account">
      <Side me={me} current={section.name} />
      <Page title={first ? hello : texts.sections[section.name]} action={ready && <WaysOn me={me} />} wide>
        {confirmed && (
          <Message kind="success" focused>
            {t.account.confirmed}
          </Message>
        )}
        {tabOnly && <Message kind="info">{t.account.tabOnly}</Message>}
        <Failure error={load.error} />
        {ready && (
          <div className="panels">
            <Cards me={me} onChanged={() => void run()} />
          </div>
        )}
        {!ready && load.error === undefined && <p role="status">{t.account.loading}</p>}
        {load.error !== undefined && (
          <button type="button" className="primary" disabled={load.busy} onClick={() => void run()}>
            {t.account.retry}
          </button>
        )}
      </Page>
    </div>
  );
}

/** The ways from the account to the work. */
function WaysOn({ me }: { readonly me: MeResponse }): ReactNode {
  const { t } = useSpeech();
  const { home: text } = useTexts();
  const { home, brand } = useInstallation();
  return (
    <div className="actions">
      {(me.is_admin || me.role != null) && (
        <Link className="secondary small" href={paths.admin}>
          {t.account.administration}
        </Link>
      )}
      {home !== undefined && (
        <a className="primary small" href={home}>
          {fill(text, { name: brand.name ?? t.product })}
        </a>
      )}
    </div>
  );
}

/** Whether the section follows the set-up of an authenticator. The history state survives a reload, so it is cleared. */
function useConfirmation(path: string): boolean {
  const [confirmed] = useState(() => (history.state === 'confirmed' ? path : undefined));
  const [left, setLeft] = useState(false);
  useEffect(() => {
    if (path !== confirmed) setLeft(true);
    else history.replaceState(null, '', location.href);
  }, [path, confirmed]);
  return confirmed === path && !left;
}

/** Moves the focus to the heading of a section that the user has opened, unless a link has led to a card of it. */
function useFocusOnNewSection(path: string): void {
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    if (document.activeElement?.matches('.panel h2') === true) return;
    window.scrollTo(0, 0);
    focusTitle();
  }, [path]);
}
