import { type ReactNode, useEffect, useRef } from 'react';
import { useSpeech } from '../i18n/texts';

/** The very first page leaves the focus where the browser begins: before the link that skips to the content. */
let loaded = false;

interface PageProps {
  readonly title: string;
  readonly intro?: ReactNode;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

/** A card with the page's one heading, which also is the title of the window. */
export function Page({ title, intro, wide = false, children }: PageProps): ReactNode {
  const { t } = useSpeech();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${t.product}`;
  }, [title, t.product]);
  // What had the focus may have gone with the page before: a screen reader goes on from here.
  useEffect(() => {
    const { activeElement: active, body } = document;
    if (loaded && (active === null || active === body || active.matches('h1'))) heading.current?.focus();
    loaded = true;
  }, [title]);
  return (
    <section className={wide ? 'card wide' : 'card'}>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {intro !== undefined && <p className="intro">{intro}</p>}
      {children}
    </section>
  );
}
