import { type AccountChangedMail, openMail, type QueuedMail } from '../../src/mail/outbox/mail-payload';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import type { User } from '../../src/users/user.entity';
import type { TestService } from './app';

type Mail<Kind extends QueuedMail['kind']> = Extract<QueuedMail, { readonly kind: Kind }>;

/** The queued mails of one kind to a user, whatever their address. */
export async function queuedMails<Kind extends QueuedMail['kind']>(
  { app, database }: Pick<TestService, 'app' | 'database'>,
  { uid }: Pick<User, 'uid'>,
  kind: Kind,
): Promise<Mail<Kind>[]> {
  const rows = await database.rows<{ payload: string }>(
    'SELECT payload FROM mail_outbox WHERE user_id = ? AND kind = ? AND payload IS NOT NULL',
    [uid, kind],
  );
  return rows.map(({ payload }) => openMail(app.get(KeyRing), payload) as Mail<Kind>);
}

/** The changes that the owner was told about, in the order of their names, because two mails may have the same time. */
export async function toldChanges(
  service: Pick<TestService, 'app' | 'database'>,
  user: Pick<User, 'uid'>,
): Promise<AccountChangedMail['change'][]> {
  return (await queuedMails(service, user, 'account-changed')).map(({ change }) => change).sort();
}
