const headLength = 8;

export interface Known {
  readonly text: string;
  readonly origin: string;
}

/**
 * Finds any of many texts in one pass. With `includes`, a log of a megabyte would be read a thousand times, once for each form
 * of each secret.
 */
export class AnyOf {
  /** The numbers of the heads. Most places of a text have another number, and need no look-up. */
  private readonly numbers = new Uint8Array(1 << 16);
  private readonly byHead = new Map<string, Known[]>();

  /** @param texts each with where it is from @throws Error for a text that is shorter than 8 characters */
  constructor(texts: ReadonlyMap<string, string>) {
    for (const [text, origin] of texts) {
      if (text.length < headLength) throw new Error(`at least ${headLength} characters are needed`);
      const head = text.slice(0, headLength);
      this.numbers[numberAt(head, 0)] = 1;
      this.byHead.set(head, [...(this.byHead.get(head) ?? []), { text, origin }]);
    }
  }

  /** The first one that the text contains. */
  in(text: string): Known | undefined {
    for (let at = 0; at + headLength <= text.length; at++) {
      if (this.numbers[numberAt(text, at)] === 0) continue;
      const found = this.byHead.get(text.slice(at, at + headLength))?.find((one) => text.startsWith(one.text, at));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

const numberAt = (text: string, at: number): number =>
  (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2) * 7919) & 0xffff;
