import { type ReactNode, useEffect, useRef } from 'react';
import { breakable } from '../../components/breakable';
import { useOffer } from '../../offer';
import { useSpeech } from '../../i18n/texts';
import { hrefOf, usePlace } from '../place';
import { noteRecent } from '../recent';

/** The place that the user came from. The first page after a load does not take the focus. */
let former: string | undefined;

interface PageHeadProps {
  readonly title: string;
  readonly intro?: ReactNode;
  /** A link to the page above. */
  readonly up?: { readonly href: string; readonly text: string };
  readonly badges?: ReactNode;
  /** Buttons at the end of the line. */
  readonly children?: ReactNode;
}

/** The title of a page. It gets the focus when the user comes from another page of the console. */
export function PageHead({ title, intro, up, badges, children }: PageHeadProps): ReactNode {
  const { t } = useSpeech();
  const { path } = usePlace();
  const product = useOffer().brand.name ?? t.product;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => noteRecent(hrefOf(path), title), [path, title]);
  useEffect(() => {
    document.title = `${title} · ${product}`;
  }, [title, product]);
  useEffect(() => {
    if (former !== undefined && former !== path) {
      heading.current?.focus();
      scrollTo(0, 0);
    }
    former = path;
  }, [path]);
  return (
    <div className="page-head">
      {up !== undefined && (
        <a className="up" href={up.href}>
          {up.text}
        </a>
      )}
      <div className="page-line">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {badges}
        {children !== undefined && <div className="page-actions">{children}</div>}
      </div>
      {intro !== undefined && <p className="note">{breakable(intro)}</p>}
    </div>
  );
}
