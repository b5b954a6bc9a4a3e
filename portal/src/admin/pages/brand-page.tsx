import { type ReactNode, useState } from 'react';
import type { AdminBrand } from '@portal-auth/sdk/admin';
import { Message } from '../../components/message';
import { BrandForm } from '../brand/brand-form';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { Copied } from '../parts/facts';
import { PageHead } from '../parts/page-head';
import { ErrorState, LoadingState } from '../parts/states';
import { hrefOf } from '../place';
import { useLoaded } from '../use-loaded';
import { useViewer } from '../viewer';

/** The brand of one tenant, or the default, with a preview. @param tenant undefined for the default */
export function BrandPage({ tenant }: { readonly tenant: string | undefined }): ReactNode {
  const { brand: texts, tenants, nav } = useTexts();
  const { root } = useViewer();
  const { value, error, reload } = useLoaded((signal) => admin.brand(tenant, { signal }), tenant);
  const [saves, setSaves] = useState(0);
  const [saved, setSaved] = useState<AdminBrand>();
  const brand = saved ?? value;
  const address = new URL(tenant === undefined ? '/' : `/?tenant=${encodeURIComponent(tenant)}`, location.href).href;
  const up = { href: hrefOf(`/tenants/${encodeURIComponent(tenant ?? '')}`), text: root ? (tenant ?? '') : nav.units };
  return (
    <>
      <PageHead
        title={tenant === undefined ? texts.defaultTitle : texts.title}
        intro={tenant === undefined ? texts.defaultIntro : texts.intro}
        {...(root && tenant !== undefined && { up })}
      >
        {tenant === undefined && (
          <a className="secondary small" href={hrefOf('/tenants')}>
            {tenants.title}
          </a>
        )}
      </PageHead>
      {saves > 0 && (
        <Message key={saves} kind="success" focused>
          {texts.saved}
        </Message>
      )}
      <ErrorState error={error} retry={reload} />
      {brand === undefined && error === undefined && <LoadingState lines={10} />}
      {brand !== undefined && (
        <BrandForm
          key={saves}
          tenant={tenant}
          brand={brand}
          onSaved={(now) => {
            setSaves((count) => count + 1);
            setSaved(now);
          }}
        />
      )}
      {tenant !== undefined && (
        <Card title={texts.address} note={texts.addressNote}>
          <Copied text={address} what={texts.address} />
        </Card>
      )}
    </>
  );
}
