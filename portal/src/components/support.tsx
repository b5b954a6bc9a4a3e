import type { ReactNode } from 'react';
import { useSpeech } from '../i18n/texts';
import { useOffer } from '../offer';

/** Whom to ask where the pages cannot help: the support of the company, or the administrator. */
export function Support({ children }: { readonly children?: ReactNode }): ReactNode {
  const { t } = useSpeech();
  const { support_url: url } = useOffer().brand;
  return (
    <p className="note">
      {children} {typeof url === 'string' ? <a href={url}>{t.support.link}</a> : t.support.ask}
    </p>
  );
}
