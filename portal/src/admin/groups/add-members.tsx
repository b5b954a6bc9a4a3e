import { type ReactNode, useRef, useState } from 'react';
import type { AdminGroup, AdminUser } from '@portal-auth/sdk/admin';
import { Failure } from '../../components/message';
import { fill } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { TypedFilter } from '../parts/fields';
import { say } from '../toasts';
import { useLoaded } from '../use-loaded';

/** The best matches. Whoever is not among them is found by a longer text. */
const shown = 8;

interface AddMembersProps {
  readonly group: AdminGroup;
  readonly onAdded: () => void;
}

/** Finds users of the tenant of the group, and adds them with one click each. */
export function AddMembers({ group, onAdded }: AddMembersProps): ReactNode {
  const { groups: texts } = useTexts();
  const search = useRef<HTMLDivElement>(null);
  const [query, setQuery] = useState('');
  const [added, setAdded] = useState<readonly string[]>([]);
  const { value } = useLoaded(
    async (signal) =>
      query === ''
        ? undefined
        : (await admin.users({ query, tenant_id: group.tenant_id }).page({ limit: shown, signal })).items,
    query,
  );
  const task = useTask(async (user: AdminUser) => {
    await admin.addGroupMember(group.id, user.uid);
    setAdded([...added, user.uid]);
    // The button that was pressed goes away. The next name replaces this one.
    const field = search.current?.querySelector('input');
    field?.focus();
    field?.select();
    say(fill(texts.added, { name: nameOf(user) }));
    onAdded();
  });
  return (
    <Card title={texts.add} note={fill(texts.addNote, { tenant: group.tenant_id })}>
      <Failure error={task.error} />
      <div ref={search}>
        <TypedFilter
          label={texts.add}
          placeholder={texts.addHint}
          value={query}
          onChange={setQuery}
          type="search"
          search
        />
      </div>
      {query !== '' && value?.length === 0 && <p className="note">{texts.nobody}</p>}
      {value !== undefined && value.length > 0 && (
        <ul className="found">
          {value.map((user) => (
            <li key={user.uid}>
              <span>
                {nameOf(user)}
                <span className="note"> {[user.login_name, user.email].filter(Boolean).join(' · ')}</span>
              </span>
              {added.includes(user.uid) ? (
                <span className="badge good">{texts.isMember}</span>
              ) : (
                <button
                  type="button"
                  className="secondary small"
                  disabled={task.busy}
                  aria-label={fill(texts.addOne, { name: nameOf(user) })}
                  onClick={() => void task.run(user)}
                >
                  +
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

const nameOf = ({ nickname, login_name }: AdminUser): string => nickname ?? login_name;
