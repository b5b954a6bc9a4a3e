import { BerElements, tag } from './ber';
import { DirectoryFailure } from './directory-failure';

export type MessageKind = 'result' | 'entry' | 'other';

/** Tags of the answers that a login needs (RFC 4511 §4.2, RFC 4511 §4.5). */
const operation = { bindResponse: 0x61, searchEntry: 0x64, searchDone: 0x65 } as const;
/** Tags of search references, which are never followed, and of extended and intermediate responses. */
const ignored = [0x73, 0x78, 0x79];
const [referral, saslCredentials, controls] = [0xa3, 0x87, 0xa0];

/**
 * ldapjs collects the attributes of an entry in an object that already has `dn` and `controls`. An attribute with
 * such a name replaces the property. When an attribute `dn` has two values, the bind throws outside of any try block.
 */
const reservedNames = ['dn', 'controls', '__proto__'];

/**
 * Checks one whole LDAPMessage against the grammar of RFC 4511. The check is so strict that the BER reader of ldapjs
 * never runs out of bytes while it reads the message.
 * @returns the message without its controls, because no code reads them
 * @throws DirectoryFailure
 */
export function checkedMessage(bytes: Buffer, budget: { elements: number }): { kind: MessageKind; message: Buffer } {
  const whole = new BerElements(bytes, { start: 0, end: bytes.length }, budget);
  const parts = whole.enter(tag.sequence);
  whole.assertNoneLeft();
  const start = parts.offset;
  parts.nextNumber(tag.integer);
  const kind = checkOperation(parts);
  const end = parts.offset;
  if (parts.nextTag === controls) parts.next(controls);
  parts.assertNoneLeft();
  return { kind, message: sequenceOf(bytes.subarray(start, end)) };
}

function checkOperation(parts: BerElements): MessageKind {
  const { nextTag = 0 } = parts;
  if (ignored.includes(nextTag)) {
    parts.next(nextTag);
    return 'other';
  }
  const contents = parts.enter(nextTag);
  switch (nextTag) {
    case operation.searchEntry:
      checkEntry(contents);
      return 'entry';
    case operation.bindResponse:
    case operation.searchDone:
      checkResult(contents);
      return 'result';
    default:
      throw new DirectoryFailure('malformed answer');
  }
}

/** LDAPResult (RFC 4511 §4.1.9). Its status must be a number. */
function checkResult(contents: BerElements): void {
  contents.nextNumber(tag.enumerated);
  contents.next(tag.octetString);
  contents.next(tag.octetString);
  if (contents.nextTag === referral) checkStrings(contents.enter(referral));
  if (contents.nextTag === saslCredentials) contents.next(saslCredentials);
  contents.assertNoneLeft();
}

/** SearchResultEntry (RFC 4511 §4.5.2). */
function checkEntry(contents: BerElements): void {
  contents.next(tag.octetString);
  const attributes = contents.enter(tag.sequence);
  contents.assertNoneLeft();
  while (attributes.nextTag !== undefined) {
    const attribute = attributes.enter(tag.sequence);
    if (reservedNames.includes(attribute.nextText())) throw new DirectoryFailure('malformed answer');
    checkStrings(attribute.enter(tag.set));
    attribute.assertNoneLeft();
  }
}

function checkStrings(strings: BerElements): void {
  while (strings.nextTag !== undefined) strings.next(tag.octetString);
}

function sequenceOf(contents: Buffer): Buffer {
  const header = Buffer.from([tag.sequence, 0x84, 0, 0, 0, 0]);
  header.writeUInt32BE(contents.length, 2);
  return Buffer.concat([header, contents]);
}
