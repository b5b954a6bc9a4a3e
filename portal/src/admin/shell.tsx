import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { BrandName } from '../components/brand';
import { Choices, SkipLink } from '../components/frame';
import { paths } from '../paths';
import { useTexts } from './i18n/texts';
import { Navigation } from './navigation';
import { useKeptFocus } from './kept-focus';
import { Menu } from './parts/icons';
import { Toasts } from './parts/toasts';
import { usePlace } from './place';
import { PaletteOpener } from './palette/opener';
import { forgetRecent } from './recent';
import { dismissAll } from './toasts';
import type { Viewer } from './viewer';

interface ShellProps {
  /** Undefined until the service has said who this is. Then there is nothing to navigate. */
  readonly viewer: Viewer | undefined;
  readonly children: ReactNode;
}

/** The frame of the console: the navigation at the side, or behind a button on a narrow screen, and the page. */
export function Shell({ viewer, children }: ShellProps): ReactNode {
  const texts = useTexts();
  const { path } = usePlace();
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => setOpen(false), [path]);
  useKeptFocus();
  const uid = viewer?.me.uid;
  useEffect(
    () => () => {
      dismissAll();
      forgetRecent();
    },
    [uid],
  );
  return (
    <div
      className="console"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return;
        setOpen(false);
        button.current?.focus();
      }}
    >
      <SkipLink />
      <header className="side">
        <div className="side-top">
          <BrandName on="card" />
          {viewer !== undefined && <PaletteOpener />}
          <button
            ref={button}
            type="button"
            className="secondary small menu-button"
            aria-expanded={open}
            aria-controls="menu"
            onClick={() => setOpen(!open)}
          >
            <Menu />
            {texts.nav.menu}
          </button>
        </div>
        <div className={open ? 'side-rest open' : 'side-rest'} id="menu">
          {viewer !== undefined && <Navigation viewer={viewer} />}
          <div className="side-end">
            {viewer !== undefined && (
              <Link className="side-account" href={paths.account}>
                <span className="avatar" aria-hidden="true">
                  {[...(viewer.me.nickname ?? viewer.me.login_name)][0]?.toLocaleUpperCase()}
                </span>
                <span>
                  <b>{viewer.me.nickname ?? viewer.me.login_name}</b>
                  <span className="note">{texts.nav.account}</span>
                </span>
              </Link>
            )}
            <div className="side-choices">
              <Choices />
            </div>
          </div>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <Toasts />
    </div>
  );
}
