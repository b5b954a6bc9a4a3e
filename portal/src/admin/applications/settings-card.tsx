import { type ReactNode, useState } from 'react';
import { fill, useSpeech } from '../../i18n/texts';
import { useOffer } from '../../offer';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { Copied, Facts } from '../parts/facts';
import { SelectField } from '../parts/fields';
import { ErrorState, LoadingState } from '../parts/states';
import { useLoaded } from '../use-loaded';
import { hasSecret, hasUsers } from './application';
import type { AdminApplication } from '@portal-auth/sdk/admin';
import { CodeBlock } from '../parts/code-block';
import { discoveryUrl, type Endpoints, findEndpoints } from './endpoints';
import { productOf, products, type Product } from './products';

interface SettingsCardProps {
  readonly application: AdminApplication;
  /** Known only right after it was made. */
  readonly secret: string | undefined;
}

/** What the administrator of the application writes into it. */
export function SettingsCard({ application, secret }: SettingsCardProps): ReactNode {
  const { applications: texts } = useTexts();
  const { value: endpoints, error, reload } = useLoaded(findEndpoints);
  const known = productOf(application.redirect_uris);
  const [chosen, setChosen] = useState(known?.product.id ?? '');
  const product = products.find(({ id }) => id === chosen);
  return (
    <Card title={texts.copying.title} note={texts.copying.intro}>
      {endpoints === undefined ? (
        error === undefined ? (
          <LoadingState lines={3} />
        ) : (
          <ErrorState error={error} retry={reload} />
        )
      ) : (
        <>
          <Addresses application={application} endpoints={endpoints} />
          {application.type === 'web' && (
            <SelectField
              label={texts.product}
              value={chosen}
              options={[['', texts.otherProduct], ...products.map(({ id, name }) => [id, name] as const)]}
              onChange={setChosen}
            />
          )}
          {product !== undefined && (
            <ProductSettings
              product={product}
              base={known?.base ?? 'https://app.example.com'}
              {...{ application, endpoints, secret }}
            />
          )}
        </>
      )}
      <p className="note">{texts.copying.documentation}</p>
    </Card>
  );
}

function Addresses({
  application: { id, type },
  endpoints,
}: Pick<SettingsCardProps, 'application'> & { readonly endpoints: Endpoints }): ReactNode {
  const { applications: texts } = useTexts();
  const { facts } = texts.copying;
  const copied = (name: string, value: string | undefined) =>
    value === undefined ? [] : [[name, <Copied key={name} text={value} what={name} />] as const];
  return (
    <div className="long-facts">
      <Facts
        facts={[
          ...copied(facts.issuer, endpoints.issuer),
          ...copied(facts.clientId, id),
          ...(hasUsers(type) ? copied(facts.discovery, discoveryUrl(endpoints.issuer)) : []),
          ...(hasUsers(type) ? [] : copied(facts.token, endpoints.token_endpoint)),
          ...(hasSecret(type) ? [[facts.secret, texts.secret.hidden] as const] : []),
        ]}
      />
      {hasUsers(type) && (
        <details className="more-facts">
          <summary>{texts.copying.endpoints}</summary>
          <Facts
            facts={[
              ...copied(facts.authorization, endpoints.authorization_endpoint),
              ...copied(facts.token, endpoints.token_endpoint),
              ...copied(facts.userinfo, endpoints.userinfo_endpoint),
              ...copied(facts.keys, endpoints.jwks_uri),
              ...copied(facts.endSession, endpoints.end_session_endpoint),
              ...copied(facts.device, endpoints.device_authorization_endpoint),
            ]}
          />
        </details>
      )}
    </div>
  );
}

interface ProductSettingsProps extends SettingsCardProps {
  readonly product: Product;
  readonly base: string;
  readonly endpoints: Endpoints;
}

function ProductSettings({ product, base, application, endpoints, secret }: ProductSettingsProps): ReactNode {
  const { t } = useSpeech();
  const { applications: texts } = useTexts();
  const { brand } = useOffer();
  const blocks = product.settings({
    issuer: endpoints.issuer,
    authorization: endpoints.authorization_endpoint,
    token: endpoints.token_endpoint,
    userinfo: endpoints.userinfo_endpoint,
    endSession: endpoints.end_session_endpoint,
    clientId: application.id,
    secret: secret ?? 'CLIENT_SECRET',
    base,
    redirectUri: application.redirect_uris[0] ?? base + product.addresses.redirect,
    scopes: application.scopes,
    // It is written between quotes, and in lines of their own.
    label: (brand.name ?? t.product).replace(/["'\\\r\n]/g, ' '),
  });
  return (
    <>
      {secret === undefined && <p className="note">{texts.secret.placeholder}</p>}
      {blocks.map(([place, text]) => (
        <CodeBlock key={place} place={place} text={text} />
      ))}
      {texts.productNotes[product.id as keyof typeof texts.productNotes] && (
        <p className="note">{texts.productNotes[product.id as keyof typeof texts.productNotes]}</p>
      )}
      <p>
        <a href={product.documentation} target="_blank" rel="noreferrer">
          {fill(texts.copying.productPages, { product: product.name })}
        </a>
      </p>
    </>
  );
}
