import type { ReactNode } from 'react';
import { inARow, useSpeech } from '../i18n/texts';
import { useOffer } from '../offer';

/** Whom to ask where the pages cannot help: the support of the company, or the administrator. */
export function Support({ children }: { readonly children?: string }): ReactNode {
  const { t } = useSpeech();
  const { support_url: url } = useOffer().brand;
  return (
    <p className="note">
      {typeof url !== 'string' ? (
        inARow(children, t.support.ask)
      ) : (
        <>
          {children} <a href={url}>{t.support.link}</a>
        </>
      )}
    </p>
  );
}
