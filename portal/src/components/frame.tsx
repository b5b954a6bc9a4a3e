import type { MouseEvent, ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { ownName } from '../i18n/choose-language';
import { languages, useSpeech } from '../i18n/texts';
import { useOffer } from '../offer';
import { outboxUrl } from '../page-settings';
import { accountSections, paths } from '../paths';
import { type Theme, themes, useTheme } from '../theme';
import { BrandLinks, BrandName } from './brand';

/** Pages that show the brand in a bar at the top, not in a panel at the side. */
const bars: readonly string[] = [...accountSections, paths.totp, paths.outbox, paths.admin];

/** The frame of every page: the brand, the page, and the choice of language and theme. */
export function Frame({ children }: { readonly children: ReactNode }): ReactNode {
  const { t } = useSpeech();
  const [location] = useLocation();
  const { tagline } = useOffer().brand;
  return (
    <div
      className={bars.includes(location) ? `frame bar${accountSections.includes(location) ? ' broad' : ''}` : 'frame'}
    >
      <SkipLink />
      <header className="brand">
        <div className="brand-inner">
          <BrandName />
          <div className="brand-words">
            <p className="tagline">{tagline ?? t.tagline}</p>
          </div>
        </div>
      </header>
      <div className="stage">
        <main id="content" tabIndex={-1}>
          {children}
        </main>
        <footer>
          <Choices />
          {outboxUrl !== '' && (
            <Link className="quiet" href={paths.outbox}>
              {t.outbox.link}
            </Link>
          )}
          <BrandLinks />
        </footer>
      </div>
    </div>
  );
}

/**
 * The link that skips to the content. It moves the focus by script, because the fragment of the address is taken: it names the
 * place in the console, or the sign-in that an application has asked for.
 */
export function SkipLink(): ReactNode {
  const { t } = useSpeech();
  const skip = (event: MouseEvent) => {
    event.preventDefault();
    document.getElementById('content')?.focus();
  };
  return (
    <a className="skip" href="#content" onClick={skip}>
      {t.skip}
    </a>
  );
}

/** The choice of language and theme. */
export function Choices(): ReactNode {
  const { t, language, choose } = useSpeech();
  const [theme, setTheme] = useTheme();
  return (
    <>
      <Choice label={t.language} value={language} onChange={choose} options={languages} nameOf={ownName} />
      <Choice<Theme>
        label={t.theme.label}
        value={theme}
        onChange={setTheme}
        options={themes}
        nameOf={(one) => t.theme[one]}
      />
    </>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly T[];
  readonly nameOf: (option: T) => string;
  readonly onChange: (option: T) => void;
}

function Choice<T extends string>({ label, value, options, nameOf, onChange }: ChoiceProps<T>): ReactNode {
  return (
    <select aria-label={label} title={label} value={value} onChange={(event) => onChange(event.target.value as T)}>
      {options.map((option) => (
        <option key={option} value={option}>
          {nameOf(option)}
        </option>
      ))}
    </select>
  );
}
