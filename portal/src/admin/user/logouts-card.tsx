import type { ReactNode } from 'react';
import type { AdminUserDetail } from '@portal-auth/sdk/admin';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { userHref } from '../place';
import { useRows } from '../use-loaded';
import { Logouts } from './logouts';
import { userLogouts } from './told-applications';

/** Sessions on the page of the user. All of them are on a page of their own. */
const shown = 3;

/** Which applications were told that sessions of the user have ended. */
export function LogoutsCard({ user }: { readonly user: AdminUserDetail }): ReactNode {
  const { receipt: texts } = useTexts();
  const rows = useRows(userLogouts(user.uid), user.uid);
  return (
    <Card title={texts.card}>
      <Logouts of={rows} heading="h3" most={shown} empty={<p className="note">{texts.empty}</p>} />
      {rows.rows !== undefined && rows.rows.length > 0 && (
        <p className="links">
          <a href={`${userHref(user.uid)}/logouts`}>{texts.all}</a>
        </p>
      )}
    </Card>
  );
}
