import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { AdminUser, Pages } from '@portal-auth/sdk/admin';
import { fill } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { Failure } from '../../components/message';
import { useTexts } from '../i18n/texts';
import type { Column } from '../parts/table';
import type { Rows } from '../use-loaded';
import { useViewer } from '../viewer';
import { BulkDialog } from './bulk-dialog';
import type { BulkAction } from './run-bulk';

/** More users than this are not selected at once. A narrower filter finds fewer. */
const most = 5000;

export interface Selection {
  /** The first column of the list: a check box in each row. */
  readonly column: Column<AdminUser>;
  /** Below the list: what can be done to the selected users. */
  readonly bar: ReactNode;
}

/** The users that the administrator has selected. Another filter ends the selection. @param key names the filter */
export function useSelection(list: Pages<AdminUser>, of: Rows<AdminUser>, key: string): Selection {
  const { bulk } = useTexts();
  const [state, setState] = useState<{ key: string; users: ReadonlyMap<string, AdminUser> }>({ key, users: new Map() });
  const users = state.key === key ? state.users : new Map<string, AdminUser>();
  const choose = (next: Iterable<AdminUser>) =>
    setState({ key, users: new Map([...next].map((one) => [one.uid, one])) });
  const toggle = (user: AdminUser) =>
    choose(users.has(user.uid) ? [...users.values()].filter(({ uid }) => uid !== user.uid) : [...users.values(), user]);
  const column: Column<AdminUser> = {
    heading: bulk.select,
    kind: 'check',
    cell: (user) => (
      <input
        type="checkbox"
        aria-label={fill(bulk.selectOne, { name: user.login_name })}
        checked={users.has(user.uid)}
        onChange={() => toggle(user)}
      />
    ),
  };
  const bar = users.size > 0 && (
    <SelectionBar key={key} users={[...users.values()]} list={list} of={of} onChoose={choose} />
  );
  return { column, bar };
}

interface SelectionBarProps {
  readonly users: readonly AdminUser[];
  readonly list: Pages<AdminUser>;
  readonly of: Rows<AdminUser>;
  readonly onChoose: (users: readonly AdminUser[]) => void;
}

function SelectionBar({ users, list, of: { rows = [], more, reload }, onChoose }: SelectionBarProps): ReactNode {
  const { bulk } = useTexts();
  const { root } = useViewer();
  const [action, setAction] = useState<BulkAction>();
  const [found, setFound] = useState(0);
  const [whole, setWhole] = useState(false);
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const all = useTask(async () => {
    const { signal } = (stop.current = new AbortController());
    const every: AdminUser[] = [];
    try {
      for await (const user of list.each({ signal })) {
        every.push(user);
        if (every.length % 200 === 0) setFound(every.length);
        if (every.length > most) break;
      }
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    setWhole(every.length <= most);
    onChoose(every.slice(0, most));
  });
  const shownAll = rows.every((row) => users.some(({ uid }) => uid === row.uid));
  const actions: readonly BulkAction[] = [
    'disable',
    'enable',
    'revoke-sessions',
    'invite',
    ...(root ? ['move' as const] : []),
  ];
  return (
    <section className="selection-bar" aria-label={bulk.title}>
      <p role="status">
        <b>{fill(bulk.selected, { count: users.length })}</b>
        {whole && ` ${bulk.everything}`}
        {users.length === most && !whole && ` ${fill(bulk.tooMany, { count: most })}`}
      </p>
      <div className="selection-choices">
        {!shownAll && (
          <button type="button" className="secondary small" onClick={() => onChoose(merged(users, rows))}>
            {fill(bulk.selectShown, { count: rows.length })}
          </button>
        )}
        {more !== undefined && !whole && (
          <button
            type="button"
            className="secondary small"
            aria-busy={all.busy}
            onClick={() => (all.busy ? stop.current?.abort() : void all.run())}
          >
            {all.busy ? fill(bulk.collecting, { count: found }) : bulk.selectAll}
          </button>
        )}
        <button type="button" className="secondary small" onClick={() => onChoose([])}>
          {bulk.clear}
        </button>
      </div>
      <Failure error={all.error} />
      <div className="selection-actions">
        {actions.map((one) => (
          <button
            key={one}
            type="button"
            className={one === 'disable' ? 'secondary small danger' : 'secondary small'}
            disabled={all.busy}
            onClick={() => setAction(one)}
          >
            {bulk.acts[one].button}
          </button>
        ))}
      </div>
      {action !== undefined && (
        <BulkDialog
          action={action}
          users={users}
          onClose={(changed) => {
            setAction(undefined);
            if (!changed) return;
            onChoose([]);
            reload();
          }}
        />
      )}
    </section>
  );
}

const merged = (users: readonly AdminUser[], rows: readonly AdminUser[]): readonly AdminUser[] => [
  ...users,
  ...rows.filter((row) => users.every(({ uid }) => uid !== row.uid)),
];
