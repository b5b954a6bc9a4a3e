/** Encodes a text as an OCTET STRING. */
export function text(value: string): Buffer {
  return element(0x04, Buffer.from(value));
}

/** Returns one element that contains the given parts. */
export function element(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size]);
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(size, 1);
  const count = size < 0x100 ? 1 : size < 0x10000 ? 2 : 4;
  bytes[4 - count] = 0x80 | count;
  return bytes.subarray(4 - count);
}

/** Splits bytes into the elements that follow one another. */
export function elements(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const [start, length] = headerOf(bytes.subarray(at));
    found.push(bytes.subarray(at, at + start + length));
    at += start + length;
  }
  return found;
}

export function contentOf(one: Buffer): Buffer {
  const [start, length] = headerOf(one);
  return one.subarray(start, start + length);
}

function headerOf(one: Buffer): [start: number, length: number] {
  const first = one[1] ?? 0;
  const count = first < 0x80 ? 0 : first & 0x7f;
  return [2 + count, count === 0 ? first : one.readUIntBE(2, count)];
}

export function attribute(type: string, ...values: string[]): Buffer {
  return element(0x30, text(type), element(0x31, ...values.map(text)));
}
