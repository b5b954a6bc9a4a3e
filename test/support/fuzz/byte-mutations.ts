import type { SeededNumbers } from '../seeded-numbers';

const bytesOfInterest = [0x00, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x25, 0x2c, 0x2f, 0x3a, 0x5c, 0x7f, 0x80, 0xc0, 0xff];
const numbersOfInterest = ['0', '-1', '1', '00', '65536', '2147483648', '18446744073709551616', '1e9', '9'.repeat(400)];

interface Options {
  /** Texts that mean something to the reader of the bytes. */
  readonly tokens?: readonly string[];
  /** A mutation that repeats something makes at most this many bytes. */
  readonly largest?: number;
}

/** Returns a copy of the bytes with one to three mutations, which ignore the structure of the bytes. */
export function mutated(
  bytes: Buffer,
  numbers: SeededNumbers,
  { tokens = [], largest = 40_000 }: Options = {},
): Buffer {
  let copy = bytes;
  for (let times = numbers.pick([1, 1, 1, 2, 3]); times > 0; times--)
    copy = mutatedOnce(copy, numbers, tokens, largest);
  return copy;
}

function mutatedOnce(bytes: Buffer, numbers: SeededNumbers, tokens: readonly string[], largest: number): Buffer {
  const at = numbers.next(bytes.length + 1);
  const end = Math.min(bytes.length, at + numbers.pick([1, 1, 2, 4, 16, 64]));
  const [before, part, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
  const joined = (...between: Buffer[]) => Buffer.concat([before, ...between, after]);
  switch (numbers.next(10)) {
    case 0: {
      const copy = Buffer.from(bytes);
      if (at < copy.length) copy[at]! ^= 1 << numbers.next(8);
      return copy;
    }
    case 1: {
      const copy = Buffer.from(bytes);
      if (at < copy.length) copy[at] = numbers.pick(bytesOfInterest);
      return copy;
    }
    case 2:
      return before;
    case 3:
      return joined();
    case 4:
      return joined(part, part);
    case 5:
      return joined(numbers.bytes(1 + numbers.next(16)), part);
    case 6: {
      const one = part.length > 0 ? part : Buffer.of(numbers.pick(bytesOfInterest));
      const times = Math.min(numbers.pick([10, 300, 5000]), Math.ceil(largest / one.length));
      return joined(Buffer.concat(Array<Buffer>(times).fill(one)));
    }
    case 7:
      return withOtherNumber(bytes, numbers);
    default:
      if (tokens.length === 0) return joined(numbers.bytes(part.length));
      return joined(Buffer.from(numbers.pick(tokens), 'latin1'), ...(numbers.chance(50) ? [part] : []));
  }
}

/** Replaces one run of digits. */
function withOtherNumber(bytes: Buffer, numbers: SeededNumbers): Buffer {
  const text = bytes.toString('latin1');
  const runs = [...text.matchAll(/\d+/g)];
  if (runs.length === 0) return bytes;
  const { index, 0: run } = numbers.pick(runs);
  const other = numbers.pick(numbersOfInterest);
  return Buffer.from(text.slice(0, index) + other + text.slice(index + run.length), 'latin1');
}
