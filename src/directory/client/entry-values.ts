import { isUuid } from '../../shared/uuid';

/** The attributes of an entry by their names in lower case: attribute names ignore case (RFC 4512 §2.5). */
export type EntryValues = ReadonlyMap<string, readonly Buffer[]>;

/** Attributes that identify an entry for its whole life: of Active Directory, and RFC 4530. */
export const idAttributes = { guid: 'objectGUID', uuid: 'entryUUID' } as const;

/** Attributes that tell the state of an account, of Active Directory, OpenLDAP (ppolicy) and 389 Directory Server. */
export const stateAttributes = ['userAccountControl', 'accountExpires', 'pwdAccountLockedTime', 'nsAccountLock'];

/** Reads the raw attributes of an entry as ldapjs returns them: one value is a buffer, several are a list. */
export function entryValues(raw: Readonly<Record<string, unknown>>): EntryValues {
  return new Map(
    Object.entries(raw).map(([name, value]) => [
      name.toLowerCase(),
      [value].flat().filter((one): one is Buffer => Buffer.isBuffer(one)),
    ]),
  );
}

export function textsOf(values: EntryValues, attribute: string): string[] {
  return (values.get(attribute.toLowerCase()) ?? []).map((value) => value.toString('utf8'));
}

/** The id of the entry as a UUID in lower case, or null when the service account sees none. */
export function idOf(values: EntryValues): string | null {
  const guid = values.get(idAttributes.guid.toLowerCase())?.[0];
  if (guid?.length === 16) return guidText(guid);
  const uuid = textsOf(values, idAttributes.uuid)[0]?.toLowerCase() ?? '';
  return isUuid(uuid) ? uuid : null;
}

/** `objectGUID` as Microsoft prints it: the bytes of the first three groups are in reverse order. */
export function guidText(bytes: Buffer): string {
  const hex = reordered(bytes).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The bytes of `objectGUID` for its text. */
export function guidBytes(text: string): Buffer {
  return reordered(Buffer.from(text.replaceAll('-', ''), 'hex'));
}

function reordered(bytes: Buffer): Buffer {
  const group = (start: number, end: number) => Buffer.from(bytes.subarray(start, end)).reverse();
  return Buffer.concat([group(0, 4), group(4, 6), group(6, 8), bytes.subarray(8)]);
}

/**
 * `ACCOUNTDISABLE` of Active Directory, a permanent lock of ppolicy, or `nsAccountLock`. The time of a temporary lock of
 * ppolicy does not count: anybody can cause such a lock by wrong guesses, and it ends by itself.
 */
export function isDisabled(values: EntryValues): boolean {
  const control = Number(textsOf(values, 'userAccountControl')[0] ?? 0);
  return (
    (control & 0x2) !== 0 ||
    textsOf(values, 'pwdAccountLockedTime').includes('000001010000Z') ||
    textsOf(values, 'nsAccountLock')[0]?.toLowerCase() === 'true'
  );
}

/** `accountExpires` counts 100 ns from 1601. 0 and the largest number mean never. */
export function expiryOf(values: EntryValues): Date | null {
  const text = textsOf(values, 'accountExpires')[0] ?? '';
  if (!/^\d{1,19}$/.test(text)) return null;
  const ticks = BigInt(text);
  if (ticks === 0n || ticks === 0x7fff_ffff_ffff_ffffn) return null;
  return new Date(Number(ticks / 10_000n) - 11_644_473_600_000);
}
