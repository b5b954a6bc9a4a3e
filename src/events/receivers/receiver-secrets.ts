import { Injectable } from '@nestjs/common';
import { KeyRing } from '../../platform/crypto/key-ring';
import type { SealedColumn } from '../../platform/crypto/resealing';
import type { EventReceiver } from './event-receiver.entity';

const secretPurpose = 'event-receiver-secret';

/** Columns that `keys reseal` encrypts again. */
export const sealedReceiverColumns: readonly SealedColumn[] = ['secret', 'old_secret'].map((column) => ({
  ...{ table: 'event_receivers', key: 'id', column, purpose: secretPurpose },
}));

/** Encrypts and decrypts the secrets that sign what receivers get. */
@Injectable()
export class ReceiverSecrets {
  constructor(private readonly keys: KeyRing) {}

  seal(secret: string): string {
    return this.keys.seal(secretPurpose, secret);
  }

  /** The current secret, and the former one while a rotation keeps it. @throws DataKeyMismatch */
  open({ secret, oldSecret, oldSecretExpires }: EventReceiver, now: Date): string[] {
    const keepsOld = oldSecret !== null && oldSecretExpires !== null && oldSecretExpires > now;
    return [secret, ...(keepsOld ? [oldSecret] : [])].map((sealed) => this.keys.open(secretPurpose, sealed));
  }
}
