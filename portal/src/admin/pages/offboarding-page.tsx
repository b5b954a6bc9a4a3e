import { type ReactNode, useEffect } from 'react';
import { fill } from '../../i18n/texts';
import { useServiceTime } from '../../service-time';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { At, Facts, Or } from '../parts/facts';
import { Printer } from '../parts/icons';
import { PageHead } from '../parts/page-head';
import { EmptyState, ErrorState, LoadingState } from '../parts/states';
import { Table } from '../parts/table';
import { userHref } from '../place';
import { useLoaded } from '../use-loaded';
import { type Offboarding, offboardings } from '../user/leaving';
import { Answer, looks } from '../user/logouts';

/** Somebody is waiting for the answers: they come within seconds. */
const refreshMs = 2000;

/** The receipt of somebody who has left: what ended, and who was told. It is live until it is complete, and can be printed. */
export function OffboardingPage({ uid }: { readonly uid: string }): ReactNode {
  const { offboarding: texts, receipt, user: userTexts } = useTexts();
  const { value: user } = useLoaded((signal) => admin.user(uid, { signal }), uid);
  const { value, error, reload } = useLoaded((signal) => offboardings(uid, signal), uid);
  const now = useServiceTime();
  const isOpen = value !== undefined && value.offboarding !== null && !value.offboarding.complete;
  useEffect(() => {
    if (!isOpen) return undefined;
    const timer = setInterval(reload, refreshMs);
    return () => clearInterval(timer);
  }, [isOpen, reload]);
  const all = value?.offboarding == null ? [] : [value.offboarding, ...value.earlier];
  return (
    <>
      <PageHead
        title={texts.title}
        up={{ href: userHref(uid), text: user?.nickname ?? user?.login_name ?? userTexts.title }}
        intro={user === undefined ? uid : [user.nickname, user.login_name, uid].filter(Boolean).join(' · ')}
      >
        {all.length > 0 && (
          <button type="button" className="secondary small with-icon" onClick={() => print()}>
            <Printer />
            {receipt.print}
          </button>
        )}
      </PageHead>
      <ErrorState error={error} retry={reload} />
      {value === undefined && error === undefined && <LoadingState lines={8} />}
      {value !== undefined && all.length === 0 && <EmptyState title={texts.emptyTitle} text={texts.empty} />}
      {all.map((one, n) => (
        <Receipt key={one.id} of={one} isNewest={n === 0} />
      ))}
      {all.length > 0 && (
        <p className="note printed">
          {receipt.printed} <At at={new Date(now).toISOString()} exact />
        </p>
      )}
    </>
  );
}

function Receipt({ of, isNewest }: { readonly of: Offboarding; readonly isNewest: boolean }): ReactNode {
  const { offboarding: texts, receipt, users, mails } = useTexts();
  const waiting = of.receivers.filter(({ status }) => status === 'waiting').length;
  const steps = texts.steps as Readonly<Record<string, string>>;
  return (
    <section className="box ended-session" aria-label={isNewest ? texts.newest : texts.before}>
      <div className="box-head">
        <h2>{isNewest ? texts.newest : texts.before}</h2>
        <span className={`badge ${of.complete ? (of.given_up > 0 ? 'bad' : 'good') : 'warn'}`} role="status">
          {of.complete
            ? fill(of.given_up > 0 ? texts.partly : texts.complete, { seconds: of.seconds ?? 0, count: of.given_up })
            : fill(texts.open, { count: waiting })}
        </span>
      </div>
      <Facts
        facts={[
          [texts.began, <At key="at" at={of.began_at} exact />],
          [texts.by, <Or key="by" text={[of.began_by, texts.via[of.via]].filter(Boolean).join(' · ')} />],
          ...(of.restored_at === null
            ? []
            : ([[texts.restored, <At key="restored" at={of.restored_at} exact />]] as const)),
        ]}
      />
      <h3>{texts.ended}</h3>
      <Table
        caption={texts.ended}
        columns={[
          { heading: texts.what, cell: ({ step }) => steps[step] ?? step, kind: 'main' },
          { heading: texts.count, cell: ({ ended }) => ended, kind: 'number' },
          { heading: texts.at, cell: ({ at }) => <At at={at} exact /> },
        ]}
        rows={of.steps}
        keyOf={({ step }) => step}
      />
      <h3>{texts.told}</h3>
      {of.receivers.length === 0 && <p className="note">{texts.nobody}</p>}
      {of.receivers.length > 0 && (
        <Table
          caption={texts.told}
          columns={[
            {
              heading: texts.receiver,
              cell: ({ kind, name }) => (kind === 'webhook' ? texts.webhook : (name ?? receipt.deleted)),
              kind: 'main',
            },
            {
              heading: users.columns.status,
              cell: ({ status }) => <span className={`badge ${looks[status]}`}>{receipt.statuses[status]}</span>,
            },
            { heading: receipt.answer, cell: ({ answer }) => <Answer answer={answer} /> },
            { heading: mails.attempts, cell: ({ attempts }) => attempts ?? '–', kind: 'number' },
            {
              heading: receipt.answered,
              cell: ({ answered_at: at, next_attempt_at: next }) =>
                at !== null ? (
                  <At at={at} exact />
                ) : next === null ? (
                  '–'
                ) : (
                  <>
                    {texts.next} <At at={next} exact />
                  </>
                ),
            },
          ]}
          rows={of.receivers}
          keyOf={({ kind, id }) => id ?? kind}
        />
      )}
    </section>
  );
}
