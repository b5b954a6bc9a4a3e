import { DirectoryFailure } from './directory-failure';

/** Universal tags that LDAP uses (RFC 4511 §5.1). */
export const tag = { integer: 0x02, octetString: 0x04, enumerated: 0x0a, sequence: 0x30, set: 0x31 } as const;

export interface BerElement {
  readonly tag: number;
  /** Offset of the contents. */
  readonly start: number;
  /** Offset after the contents. Infinity for an indefinite length (RFC 4511 §5.1) or a length of over four bytes. */
  readonly end: number;
}

/**
 * Reads the header of an element. Returns undefined while the header is incomplete. The contents may still be missing.
 */
export function elementAt(bytes: Buffer, at = 0): BerElement | undefined {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined) return undefined;
  const count = first < 0x80 ? 0 : first & 0x7f;
  if (first === 0x80 || count > 4) return { tag, start: Infinity, end: Infinity };
  const start = at + 2 + count;
  if (bytes.length < start) return undefined;
  return { tag, start, end: start + (count === 0 ? first : bytes.readUIntBE(at + 2, count)) };
}

/**
 * Reads the elements of a parent element in their order. Each element must have the expected tag and end inside its
 * parent. Otherwise the method that reads it throws DirectoryFailure.
 */
export class BerElements {
  private at: number;
  private readonly end: number;

  /** @param budget the number of elements that may still be read. All readers of one connection share it. */
  constructor(
    private readonly bytes: Buffer,
    within: Pick<BerElement, 'start' | 'end'>,
    private readonly budget: { elements: number },
  ) {
    this.at = within.start;
    this.end = within.end;
  }

  /** Offset of the next element. */
  get offset(): number {
    return this.at;
  }

  /** The tag of the next element. Undefined when no element is left. */
  get nextTag(): number | undefined {
    return this.at < this.end ? this.bytes[this.at] : undefined;
  }

  next(expected: number): BerElement {
    const element = this.nextTag === expected ? elementAt(this.bytes, this.at) : undefined;
    if (element === undefined || element.end > this.end) throw new DirectoryFailure('malformed answer');
    if (--this.budget.elements < 0) throw new DirectoryFailure('answer too large');
    this.at = element.end;
    return element;
  }

  /** Reads an INTEGER or ENUMERATED of at most 32 bits. */
  nextNumber(expected: number): number {
    const { start, end } = this.next(expected);
    if (end === start || end > start + 4) throw new DirectoryFailure('malformed answer');
    return this.bytes.readIntBE(start, end - start);
  }

  nextText(): string {
    const { start, end } = this.next(tag.octetString);
    return this.bytes.toString('utf8', start, end);
  }

  /** Returns a reader for the contents of the next element. */
  enter(expected: number): BerElements {
    return new BerElements(this.bytes, this.next(expected), this.budget);
  }

  assertNoneLeft(): void {
    if (this.at !== this.end) throw new DirectoryFailure('malformed answer');
  }
}
