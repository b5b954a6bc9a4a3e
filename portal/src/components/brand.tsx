import { type ReactNode, useState } from 'react';
import { useSpeech } from '../i18n/texts';
import { logoUrl, useOffer } from '../offer';
import { Mark } from './icons';

/** The logo, or the name if there is no logo. Both have the same height, so that the page does not move. */
export function BrandName(): ReactNode {
  const { t } = useSpeech();
  const { brand, settled } = useOffer();
  const [broken, setBroken] = useState(false);
  const name = brand.name ?? t.product;
  return (
    <div className="brand-name" aria-hidden={!settled} data-settled={settled}>
      {typeof brand.logo_url === 'string' && !broken ? (
        <img className="logo" src={logoUrl(brand.logo_url)} alt={name} onError={() => setBroken(true)} />
      ) : (
        <>
          <Mark />
          <span>{name}</span>
        </>
      )}
    </div>
  );
}

const links = ['support', 'privacy', 'imprint'] as const;

export function BrandLinks(): ReactNode {
  const { t } = useSpeech();
  const { brand } = useOffer();
  return links.map((one) => {
    const url = brand[`${one}_url`];
    return (
      typeof url === 'string' && (
        <a key={one} className="quiet" href={url}>
          {t.brandLinks[one]}
        </a>
      )
    );
  });
}
