export type Cbor = number | string | Buffer | readonly Cbor[] | Map<number | string, Cbor>;

/** Encodes what WebAuthn uses of CBOR (RFC 8949): integers, texts, bytes, arrays and maps. */
export function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map) {
    return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, item]) => [cbor(key), cbor(item)])]);
  }
  const items = value;
  return Buffer.concat([head(4, items.length), ...items.map(cbor)]);
}

/** The first bytes of an item: its major type and its value or length. */
export function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 0x100) return Buffer.from([(major << 5) | 24, value]);
  if (value < 0x10000) return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
  const wide = Buffer.alloc(5);
  wide[0] = (major << 5) | 26;
  wide.writeUInt32BE(value, 1);
  return wide;
}
