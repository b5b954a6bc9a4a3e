import { type ReactNode, useEffect, useRef } from 'react';
import { useSpeech } from '../i18n/texts';
import { useOffer } from '../offer';

/** On the first page the focus stays at the start of the document, before the link that skips to the content. */
let loaded = false;

interface PageProps {
  readonly title: string;
  readonly intro?: ReactNode;
  readonly wide?: boolean;
  /** Shown beside the heading. */
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

/** A card with the only heading of the page. The heading is also the title of the window. */
export function Page({ title, intro, wide = false, action, children }: PageProps): ReactNode {
  const { t } = useSpeech();
  const name = useOffer().brand.name ?? t.product;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${name}`;
  }, [title, name]);
  // If the focused element was removed with the former page, a screen reader continues from the heading.
  useEffect(() => {
    const { activeElement: active, body } = document;
    if (loaded && (active === null || active === body || active.matches('h1'))) heading.current?.focus();
    loaded = true;
  }, [title]);
  return (
    <section className={wide ? 'card wide' : 'card'}>
      <div className="heading">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {action}
      </div>
      {intro !== undefined && <p className="intro">{intro}</p>}
      {children}
    </section>
  );
}
