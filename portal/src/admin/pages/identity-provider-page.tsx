import type { ReactNode } from 'react';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { ProviderActions } from '../identity-providers/actions';
import { AddressesCard } from '../identity-providers/addresses-card';
import { DetailsCard } from '../identity-providers/details-card';
import { TryCard } from '../identity-providers/try-card';
import { EnabledBadge } from '../parts/badges';
import { EntryPage } from '../parts/entry-page';
import { hrefOf } from '../place';
import { useViewer } from '../viewer';

/** One identity provider: what was entered there and here, a try, and what can be done to it. */
export function IdentityProviderPage({ id }: { readonly id: string }): ReactNode {
  const { identityProviders: texts } = useTexts();
  const { writes } = useViewer();
  return (
    <EntryPage
      id={id}
      load={(signal) => admin.identityProvider(id, { signal })}
      up={{ href: hrefOf('/identity-providers'), text: texts.title }}
      texts={texts}
      head={({ name, enabled, issuer }) => ({
        title: name,
        badges: <EnabledBadge enabled={enabled} />,
        intro: issuer,
      })}
    >
      {(provider, frame) => (
        <>
          <div className="column">
            <AddressesCard issuer={provider.issuer} addresses={provider} />
            <DetailsCard provider={provider} onSaved={() => frame.changed(texts.saved)} />
            {writes && <TryCard provider={provider} />}
          </div>
          <div className="column">
            {writes && <ProviderActions provider={provider} onDone={frame.changed} onDeleted={frame.deleted} />}
          </div>
        </>
      )}
    </EntryPage>
  );
}
