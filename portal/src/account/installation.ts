import { type Offer, useOffer } from '../offer';

/** What the account page shows of this service, because it can matter here. */
export interface Installation extends Offer {
  /** Where the work goes on. */
  readonly home: string | undefined;
  /** Whether there are company accounts beside those of the portal. */
  readonly directory: boolean;
}

export function useInstallation(): Installation {
  const offer = useOffer();
  return {
    ...offer,
    home: offer.home_url ?? undefined,
    directory: offer.providers.includes('ldap'),
  };
}
