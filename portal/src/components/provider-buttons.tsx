import type { ReactNode } from 'react';
import type { ProviderLogin } from '../external/use-provider-login';
import { fill, useSpeech } from '../i18n/texts';
import { useOffer } from '../offer';
import { Failure } from './message';

/** A button for each identity provider that the service lists. A button stays enabled, so that it keeps the focus. */
export function ProviderButtons({ login }: { readonly login: ProviderLogin }): ReactNode {
  const { t } = useSpeech();
  const { identity_providers: providers } = useOffer();
  return (
    <>
      <Failure error={login.error} />
      {providers.map(({ id, name }) => (
        <button key={id} type="button" className="secondary provider-name" onClick={() => void login.run(id)}>
          {fill(t.login.with, { name })}
        </button>
      ))}
    </>
  );
}
