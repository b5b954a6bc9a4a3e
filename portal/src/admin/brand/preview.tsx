import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { Mark } from '../../components/icons';
import { useSpeech } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import type { Shown } from './draft';

const pages = ['login', 'account', 'mail'] as const;
type PageName = (typeof pages)[number];
const looks = ['light', 'dark'] as const;

/** How the pages and mails would look, in both themes, before anything is saved. */
export function Preview({ brand }: { readonly brand: Shown }): ReactNode {
  const { t } = useSpeech();
  const { brand: texts } = useTexts();
  const [page, setPage] = useState<PageName>('login');
  const Drawn = { login: LoginPicture, account: AccountPicture, mail: MailPicture }[page];
  return (
    <Card title={texts.preview} note={texts.previewNote}>
      <div className="chips" role="group" aria-label={texts.preview}>
        {pages.map((one) => (
          <button key={one} type="button" className="chip" aria-pressed={one === page} onClick={() => setPage(one)}>
            {texts.pages[one]}
          </button>
        ))}
      </div>
      {looks.map((look) => (
        <Picture key={look} look={look} color={brand.color} label={`${texts.pages[page]}, ${t.theme[look]}`}>
          <Drawn brand={brand} />
        </Picture>
      ))}
    </Card>
  );
}

interface PictureProps {
  readonly look: (typeof looks)[number];
  readonly color: string;
  readonly label: string;
  readonly children: ReactNode;
}

/** Nothing in it can be reached or is read aloud: it is one picture. */
function Picture({ look, color, label, children }: PictureProps): ReactNode {
  const element = useRef<HTMLDivElement>(null);
  // The Content-Security-Policy forbids style attributes, and not changes by a script.
  useLayoutEffect(() => element.current!.style.setProperty('--brand', color), [color]);
  return (
    <div ref={element} className={`preview ${look}`} role="img" aria-label={label}>
      {children}
    </div>
  );
}

interface DrawnProps {
  readonly brand: Shown;
}

/** On the brand colour, which is dark in both themes. */
function OnBrand({ brand: { name, light, dark } }: DrawnProps): ReactNode {
  const { t } = useSpeech();
  const logo = dark ?? light;
  return (
    <span className="preview-name">
      {logo === null ? (
        <>
          <Mark />
          <span>{name ?? t.product}</span>
        </>
      ) : (
        <img src={logo} alt="" />
      )}
    </span>
  );
}

function LoginPicture({ brand }: DrawnProps): ReactNode {
  const { t } = useSpeech();
  return (
    <div className="preview-login">
      <div className="preview-brand">
        <OnBrand brand={brand} />
        <span className="preview-tagline">{brand.tagline ?? t.tagline}</span>
      </div>
      <div className="preview-stage">
        <div className="preview-card">
          <b>{t.login.title}</b>
          <span>{t.login.username}</span>
          <span className="preview-input" />
          <span>{t.login.password}</span>
          <span className="preview-input" />
          <span className="preview-button">{t.login.submit}</span>
          <span className="preview-link">{t.login.forgot}</span>
        </div>
      </div>
    </div>
  );
}

function AccountPicture({ brand }: DrawnProps): ReactNode {
  const { t } = useSpeech();
  const { fields } = t.account;
  return (
    <div>
      <div className="preview-brand bar">
        <OnBrand brand={brand} />
      </div>
      <div className="preview-stage">
        <div className="preview-card">
          <b>{t.account.title}</b>
          <span className="preview-row">
            <span>{fields.nickname}</span> Ada
          </span>
          <span className="preview-row">
            <span>{fields.email}</span> ada@example.com
          </span>
          <span className="preview-link">{t.account.totpSetUp}</span>
        </div>
      </div>
    </div>
  );
}

function MailPicture({ brand: { name, mail } }: DrawnProps): ReactNode {
  const { brand: texts } = useTexts();
  return (
    <div className="preview-mail">
      <div className="preview-letter">
        {mail !== null && <img src={mail} alt="" />}
        {mail === null && name !== null && <span className="preview-sender">{name}</span>}
        <b>{texts.mail.subject}</b>
        <span>{texts.mail.text}</span>
        <span className="preview-button">{texts.mail.button}</span>
      </div>
    </div>
  );
}
