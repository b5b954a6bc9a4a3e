import type { ReactNode } from 'react';
import { fill } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { Copied, Facts } from '../parts/facts';
import { presetOf } from './presets';

interface AddressesCardProps {
  readonly issuer: string;
  readonly addresses: { readonly redirect_uri: string; readonly backchannel_logout_uri: string };
}

/** What an administrator enters at the provider, and where. */
export function AddressesCard({ issuer, addresses }: AddressesCardProps): ReactNode {
  const { identityProviders: texts } = useTexts();
  const { fields } = texts;
  const preset = presetOf(issuer);
  return (
    <Card title={texts.there.title} note={texts.there.intro}>
      <ol className="steps">
        {texts.there.steps[preset?.id ?? 'other'].map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <div className="long-facts">
        <Facts
          facts={[
            [fields.redirect_uri, <Copied text={addresses.redirect_uri} what={fields.redirect_uri} />],
            ...(preset?.tellsLogouts === false
              ? []
              : [
                  [
                    fields.backchannel_logout_uri,
                    <Copied text={addresses.backchannel_logout_uri} what={fields.backchannel_logout_uri} />,
                  ] as const,
                ]),
          ]}
        />
      </div>
      {preset !== undefined && (
        <p>
          <a href={preset.documentation} target="_blank" rel="noreferrer">
            {fill(texts.there.documentation, { name: preset.name })}
          </a>
        </p>
      )}
    </Card>
  );
}
