import { type ReactNode, useState } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import type { AdminGroupMember } from '@portal-auth/sdk/admin';
import { fill } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { AddMembers } from '../groups/add-members';
import { useTexts } from '../i18n/texts';
import { usePageAction } from '../page-actions';
import { Card } from '../parts/card';
import { Dialog } from '../parts/dialog';
import { At } from '../parts/facts';
import { People } from '../parts/icons';
import { List } from '../parts/list';
import { Rename } from '../parts/named-rows';
import { PageHead } from '../parts/page-head';
import { EmptyState, ErrorState, LoadingState } from '../parts/states';
import type { Column } from '../parts/table';
import { go, hrefOf, userHref } from '../place';
import { complain, say, type Toast } from '../toasts';
import { useOpenForm } from '../use-draft';
import { useLoaded, useRows } from '../use-loaded';
import { OwnerBadge } from './groups-page';
import { useViewer } from '../viewer';

/** One group and its members. Only a group of administrators can be changed here. */
export function GroupPage({ id }: { readonly id: string }): ReactNode {
  const { groups: texts, users, logs } = useTexts();
  const { writes } = useViewer();
  const { value, error, reload } = useLoaded((signal) => admin.group(id, { signal }), id);
  const members = useRows(admin.groupMembers(id), id);
  const [renaming, setRenaming] = useOpenForm('name');
  const [deleting, setDeleting] = useState(false);
  const [gone, setGone] = useState(false);
  const up = { href: hrefOf('/groups'), text: texts.title };
  const reread = () => {
    reload();
    members.reload();
  };
  const changed = (text: string, undo?: Toast['undo']) => {
    setRenaming(false);
    say(text, undo && (() => undo().finally(reread)));
    reread();
  };
  const removal = useTask(async (member: AdminGroupMember) => {
    const name = nameOf(member);
    try {
      await admin.removeGroupMember(id, member.uid);
      changed(fill(texts.taken, { name }), async () => {
        await admin.addGroupMember(id, member.uid);
        return fill(texts.added, { name });
      });
    } catch (error) {
      complain(error);
    }
  });
  const changeable = writes && value?.source === 'admin' && !renaming;
  usePageAction(texts.rename, changeable ? () => setRenaming(true) : undefined);
  usePageAction(texts.remove, changeable ? () => setDeleting(true) : undefined);
  if (gone || (error instanceof ServiceError && error.code === 'USER_404001'))
    return (
      <EmptyState title={gone ? texts.removed : texts.missing} {...(!gone && { text: texts.missingHint })} heading>
        <button type="button" className="primary" onClick={() => go(up.href)}>
          {texts.back}
        </button>
      </EmptyState>
    );
  if (value === undefined)
    return (
      <>
        <PageHead title={texts.one} up={up} />
        {error === undefined ? <LoadingState lines={8} /> : <ErrorState error={error} retry={reload} />}
      </>
    );
  const own = value.source === 'admin';
  const columns: Column<AdminGroupMember>[] = [
    {
      heading: users.columns.user,
      kind: 'main',
      cell: (member) => (
        <a className="row-link" href={userHref(member.uid)}>
          {nameOf(member)}
        </a>
      ),
    },
    { heading: users.fields.email, cell: ({ email }) => email ?? '' },
    { heading: texts.since, cell: ({ added_at }) => <At at={added_at} /> },
    {
      heading: logs.action,
      kind: 'end',
      cell: (member) =>
        own &&
        writes && (
          <button
            type="button"
            className="secondary small"
            disabled={removal.busy}
            aria-label={fill(texts.takeOne, { name: nameOf(member) })}
            onClick={() => void removal.run(member)}
          >
            {texts.take}
          </button>
        ),
    },
  ];
  const owner = value.identity_provider ?? texts.owners[value.source];
  return (
    <>
      <PageHead
        title={value.name}
        up={up}
        badges={own ? undefined : <OwnerBadge group={value} />}
        intro={
          own
            ? value.members === null
              ? texts.manyMembers
              : fill(texts.memberCount, { count: value.members })
            : fill(texts.ownedElsewhere, { owner })
        }
      >
        {own && writes && !renaming && (
          <>
            <button type="button" className="secondary small" onClick={() => setRenaming(true)}>
              {texts.rename}
            </button>
            <button type="button" className="secondary small danger" onClick={() => setDeleting(true)}>
              {texts.remove}
            </button>
          </>
        )}
      </PageHead>
      <ErrorState error={error} retry={reload} />
      {renaming && (
        <div className="narrow">
          <Card title={texts.rename}>
            <Rename
              name={value.name}
              rename={(name) => admin.renameGroup(id, name)}
              onDone={() => changed(texts.renamed)}
              onCancel={() => setRenaming(false)}
            />
          </Card>
        </div>
      )}
      <div className="column">
        {own && writes && <AddMembers group={value} onAdded={reread} />}
        <Card title={texts.members}>
          <List
            of={members}
            caption={texts.members}
            columns={columns}
            keyOf={({ uid }) => uid}
            empty={<EmptyState icon={<People />} title={texts.noMembers} />}
          />
        </Card>
      </div>
      {deleting && (
        <Dialog
          title={fill(texts.removeAsk, { name: value.name })}
          action={texts.remove}
          danger
          run={() => admin.deleteGroup(id)}
          onDone={() => setGone(true)}
          onClose={() => setDeleting(false)}
        >
          <p>{texts.removeEffect}</p>
        </Dialog>
      )}
    </>
  );
}

const nameOf = ({ nickname, login_name }: AdminGroupMember): string => nickname ?? login_name;
