import { type Offer, useOffer } from '../offer';
import type { Asking } from './advice';

/** Parts of `GET /capabilities` that an older service does not answer. */
interface Newer {
  readonly mfa?: Asking;
  readonly home_url?: string | null;
}

/** What the account page shows of this service, because it can matter here. */
export interface Installation extends Offer {
  readonly mfa: Asking;
  /** Where the work goes on. */
  readonly home: string | undefined;
  /** Whether there are company accounts beside those of the portal. */
  readonly directory: boolean;
}

export function useInstallation(): Installation {
  const offer: Offer & Newer = useOffer();
  return {
    ...offer,
    mfa: offer.mfa ?? (offer.mfa_required ? 'always' : 'never'),
    home: offer.home_url ?? undefined,
    directory: offer.providers.includes('ldap'),
  };
}
