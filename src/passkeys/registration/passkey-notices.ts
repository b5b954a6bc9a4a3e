import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { usableAddress } from '../../shared/mail-address';
import { AuditTrail } from '../../audit/audit-trail';
import { type ChangedOwner, Mailer } from '../../mail/mailer';
import type { Transaction } from '../../platform/database/database';
import type { SessionUser } from '../../sessions/current-session';
import type { Passkey } from '../persistence/passkey.entity';

export type PasskeyOwner = Pick<SessionUser, 'uid' | 'loginName' | 'email'>;

/** The audit row and the mail to the owner when a passkey is added or removed. The name is free text, so no mail has it. */
@Injectable()
export class PasskeyNotices {
  constructor(
    private readonly audit: AuditTrail,
    private readonly mailer: Mailer,
    private readonly clock: Clock,
  ) {}

  async added(tx: Transaction, owner: PasskeyOwner, { id, backedUp }: Passkey, client: ClientInfo): Promise<void> {
    const detail = { passkey: id, backed_up: backedUp };
    await this.audit.record(tx, 'PASSKEY_ADDED', { userId: owner.uid, client, detail });
    await this.mail(tx, owner, true, client);
  }

  async removed(tx: Transaction, owner: PasskeyOwner, id: string, client: ClientInfo): Promise<void> {
    await this.audit.record(tx, 'PASSKEY_REMOVED', { userId: owner.uid, client, detail: { passkey: id } });
    await this.mail(tx, owner, false, client);
  }

  /** The audit row of an administrator is written by the caller. @param client with the language of the owner */
  mailRemovedByAdministrator(tx: Transaction, owner: PasskeyOwner, client: ClientInfo): Promise<void> {
    return this.mail(tx, owner, false, client, 'administrator');
  }

  mailAllRemoved(tx: Transaction, owner: ChangedOwner): Promise<void> {
    return this.mailer.queueAccountChanged(tx, owner, { change: 'passkeysRemoved', by: 'administrator' });
  }

  private async mail(
    tx: Transaction,
    { uid, loginName, email }: PasskeyOwner,
    added: boolean,
    client: ClientInfo,
    by?: 'administrator',
  ): Promise<void> {
    const to = usableAddress(email);
    if (to === null) return;
    const { language, ip } = client;
    const mail = { userId: uid, to, loginName, language, ip, at: this.clock.now(), added };
    await this.mailer.queuePasskeyChanged(tx, { ...mail, ...(by && { by }) });
  }
}
