import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Page } from '../components/page';
import { useSpeech } from '../i18n/texts';
import { paths } from '../paths';

export function MissingPage(): ReactNode {
  const { t } = useSpeech();
  return (
    <Page title={t.missing.title} intro={t.missing.text}>
      <Link className="primary" href={paths.login}>
        {t.missing.back}
      </Link>
    </Page>
  );
}
