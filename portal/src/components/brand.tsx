import { type ReactNode, useState } from 'react';
import { useSpeech } from '../i18n/texts';
import { brandUrl, type Offer, useOffer } from '../offer';
import { Mark } from './icons';

interface BrandNameProps {
  /** The background: the brand colour, which is dark in every theme, or a card, which follows the theme. */
  readonly on?: 'brand' | 'card';
}

/** The logo, or the name if there is no logo. Both have the same height, so that the page does not move. */
export function BrandName({ on = 'brand' }: BrandNameProps): ReactNode {
  const { t } = useSpeech();
  const { brand, settled } = useOffer();
  const [broken, setBroken] = useState(false);
  const name = brand.name ?? t.product;
  const logos = broken ? [] : logosOf(brand, on);
  return (
    <div className="brand-name" aria-hidden={!settled} data-settled={settled}>
      {logos.map(([url, look]) => (
        <img key={url} className={look} src={brandUrl(url)} alt={name} onError={() => setBroken(true)} />
      ))}
      {logos.length === 0 && (
        <>
          <Mark />
          <span title={name}>{name}</span>
        </>
      )}
    </div>
  );
}

/** A single logo is one for the brand colour. With two, the theme decides on a card. */
function logosOf({ logo_url: light, logo_dark_url: dark }: Offer['brand'], on: 'brand' | 'card'): [string, string][] {
  const only = dark ?? light;
  if (typeof only !== 'string') return [];
  if (on === 'brand') return [[only, 'logo']];
  if (typeof light !== 'string' || typeof dark !== 'string') return [[only, 'logo plate']];
  return [
    [light, 'logo for-light'],
    [dark, 'logo for-dark'],
  ];
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
