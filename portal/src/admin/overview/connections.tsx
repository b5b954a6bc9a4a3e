import type { ReactNode } from 'react';
import type { AdminChecks } from '@portal-auth/sdk/admin';
import { Failure } from '../../components/message';
import { fill } from '../../i18n/texts';
import type { Task } from '../../use-task';
import { useTexts } from '../i18n/texts';
import { At } from '../parts/facts';

type Item = AdminChecks['items'][number];

interface ConnectionsProps {
  readonly task: Task<[]>;
  readonly report: AdminChecks | undefined;
}

/** What the checks of the connections have found, in words; what does not work comes first. */
export function Connections({ task, report }: ConnectionsProps): ReactNode {
  const { connections: texts } = useTexts();
  const names: Readonly<Record<string, string>> = texts.names;
  const nameOf = ({ check }: Item): string => names[check] ?? check;
  const items = report?.items ?? [];
  const asked = items.filter(({ status }) => status !== 'skipped');
  const open = asked.filter(({ status }) => status !== 'ok');
  const skipped = items.filter(({ status }) => status === 'skipped').map(nameOf);
  return (
    <div className="connections">
      <p className="heard" role="status">
        {task.busy
          ? texts.busy
          : report && (open.length === 0 ? texts.allWell : fill(texts.toLookAt, { count: open.length }))}
      </p>
      <Failure error={task.error} />
      {report !== undefined && (
        <>
          <h3>{open.length === 0 ? texts.allWell : fill(texts.toLookAt, { count: open.length })}</h3>
          <ul className="findings">
            {[...open, ...asked.filter(({ status }) => status === 'ok')].map((item) => (
              <li key={item.check} className={item.status === 'ok' ? 'well' : 'open'}>
                <span className="finding-mark" aria-hidden="true">
                  {item.status === 'ok' ? '✓' : '!'}
                </span>
                <span>
                  {fill(texts.line, {
                    name: nameOf(item),
                    state: texts.states[item.status as 'ok' | 'warn' | 'problem'],
                  })}
                  {/* The words of the service, in English. */}
                  <span className="note" lang="en">
                    {item.text}
                  </span>
                </span>
              </li>
            ))}
          </ul>
          {skipped.length > 0 && <p className="note">{fill(texts.notSetUp, { names: skipped.join(', ') })}</p>}
          <p className="note">
            {texts.checked} <At at={report.checked_at} exact />
          </p>
        </>
      )}
    </div>
  );
}
