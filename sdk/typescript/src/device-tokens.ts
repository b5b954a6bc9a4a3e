import { type KeyValueStorage, Slot } from './storage.js';

/** A list of pairs, not an object: a login name may be `constructor`. */
type Entry = readonly [name: string, token: string];

/**
 * The tokens by which the service recognises this browser as a trusted device, one per login name
 * (docs/spec/extensions.md#trusted-devices). A sign-out keeps them, because they are for the next login.
 */
export class DeviceTokens {
  private readonly slot: Slot<readonly Entry[]>;

  constructor(storage: KeyValueStorage, key: string) {
    this.slot = new Slot(storage, key, isEntries);
  }

  of(username: string): string | undefined {
    const name = nameKey(username);
    return this.entries().find(([other]) => other === name)?.[1];
  }

  /** An answer without a token changes nothing. A service that has no trusted devices may leave out the field. */
  keep(username: string, token: string | null | undefined): void {
    if (token === null || token === undefined) return;
    const name = nameKey(username);
    this.slot.write([...this.entries().filter(([other]) => other !== name), [name, token]]);
  }

  clear(): void {
    this.slot.remove();
  }

  private entries(): readonly Entry[] {
    return this.slot.read() ?? [];
  }
}

/** The service ignores case and surrounding spaces of a login name in the same way. */
const nameKey = (username: string): string => username.normalize('NFKC').trim().toLowerCase();

function isEntries(value: unknown): value is readonly Entry[] {
  return (
    Array.isArray(value) &&
    value.every((entry) => Array.isArray(entry) && entry.length === 2 && entry.every((one) => typeof one === 'string'))
  );
}
