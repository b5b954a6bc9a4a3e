import type { ReactNode } from 'react';
import { fill } from '../../i18n/texts';
import { useServiceTime } from '../../service-time';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { At } from '../parts/facts';
import { Printer } from '../parts/icons';
import { PageHead } from '../parts/page-head';
import { EmptyState, ErrorState } from '../parts/states';
import { userHref } from '../place';
import { useLoaded, useRows } from '../use-loaded';
import { Logouts } from '../user/logouts';
import { type AdminLogout, userLogouts } from '../user/told-applications';

/** The receipt of a user: every application that was told of an ended session, with its answer. It can be printed. */
export function ReceiptPage({ uid }: { readonly uid: string }): ReactNode {
  const { receipt: texts, user: userTexts } = useTexts();
  const { value: user, error, reload } = useLoaded((signal) => admin.user(uid, { signal }), uid);
  const rows = useRows(userLogouts(uid), uid);
  const now = useServiceTime();
  const name = user?.nickname ?? user?.login_name;
  return (
    <>
      <PageHead
        title={texts.title}
        up={{ href: userHref(uid), text: name ?? userTexts.title }}
        intro={user === undefined ? texts.intro : [user.nickname, user.login_name, uid].filter(Boolean).join(' · ')}
      >
        {rows.rows !== undefined && rows.rows.length > 0 && (
          <button type="button" className="secondary small with-icon" onClick={() => print()}>
            <Printer />
            {texts.print}
          </button>
        )}
      </PageHead>
      <ErrorState error={error} retry={reload} />
      {rows.rows !== undefined && rows.rows.length > 0 && <Sums rows={rows.rows} partly={rows.more !== undefined} />}
      <Logouts of={rows} heading="h2" empty={<EmptyState title={texts.emptyTitle} text={texts.empty} />} />
      <p className="note printed">
        {texts.printed} <At at={new Date(now).toISOString()} exact />
      </p>
    </>
  );
}

function Sums({ rows, partly }: { readonly rows: readonly AdminLogout[]; readonly partly: boolean }): ReactNode {
  const { receipt: texts } = useTexts();
  const count = (status: AdminLogout['status']): number => rows.filter((row) => row.status === status).length;
  return (
    <p className="sums">
      {fill(texts.sums, { told: count('told'), waiting: count('waiting'), failed: count('failed') })}
      {partly && ` ${texts.partly}`}
    </p>
  );
}
