import { attribute, contentOf, element, elements, text } from './ber';
import type { StubQuestion } from './directory-stub';
import type { SeededNumbers } from './seeded-numbers';

/** Slightly more bytes than the service reads. */
const largest = 300_000;

interface Node {
  tag: number;
  content: Buffer | Node[];
  /** The bytes of the length field, if they differ from the right ones. */
  length?: Buffer;
}

const wrongLengths = [
  '80',
  '00',
  '7f',
  '81ff',
  '820400',
  '83010000',
  '84000fffff',
  '847fffffff',
  '84ffffffff',
  '850000000001',
  'ff',
];
const tags = [
  0x00, 0x01, 0x02, 0x04, 0x0a, 0x1f, 0x30, 0x31, 0x42, 0x60, 0x61, 0x63, 0x64, 0x65, 0x73, 0x78, 0x79, 0x87, 0x8a,
  0xa0, 0xa3, 0xff,
];
const bytesOfInterest = [0x00, 0x01, 0x7f, 0x80, 0x81, 0x82, 0x84, 0x88, 0xff];

/** Answers of real directories: with references, controls and refusals. */
function answersTo(question: StubQuestion, id: Buffer, numbers: SeededNumbers): Buffer {
  const code = numbers.pick([0, 0, 0, 0, 0, 0, 0, 0, 10, 32, 49, 51, 97]);
  const refusal = '80090308: LdapErr: DSID-0C09042A, comment: AcceptSecurityContext error, data 533, v4563\0';
  const outcome = (tag: number) =>
    element(
      tag,
      element(0x0a, Buffer.from([code])),
      text(''),
      text(code === 49 ? refusal : ''),
      ...(code === 10 ? [element(0xa3, text('ldap://127.0.0.1:1/dc=example'))] : []),
    );
  const control = element(0x30, text('1.2.840.113556.1.4.319'), element(0x04, element(0x30, text('cookie'))));
  const controls = numbers.next(4) === 0 ? [element(0xa0, control)] : [];
  if (question !== 'search') return element(0x30, id, outcome(0x61), ...controls);
  const values = Array.from({ length: numbers.next(4) }, (_, n) => `value ${n}`);
  const attributes = [attribute('uid', 'somebody'), attribute('cn', ...values), attribute('photo;binary', 'binary')];
  const entry = element(0x64, text('uid=somebody,dc=example'), element(0x30, ...attributes));
  const reference = element(0x73, text('ldap://127.0.0.1:1/dc=elsewhere'));
  return Buffer.concat([
    element(0x30, id, entry, ...controls),
    ...(numbers.next(3) === 0 ? [element(0x30, id, reference)] : []),
    element(0x30, id, outcome(0x65), ...controls),
  ]);
}

/** Returns an answer to the question with one to three mutations. */
export function hostileAnswer(question: StubQuestion, id: Buffer, numbers: SeededNumbers): Buffer {
  let bytes = answersTo(question, id, numbers);
  const times = numbers.pick([1, 1, 1, 2, 3]);
  for (let n = 0; n < times; n++)
    bytes = numbers.next(2) === 0 ? withChangedBytes(bytes, numbers) : withChangedElement(bytes, numbers);
  return bytes;
}

/** Mutates bytes without regard to the structure. */
function withChangedBytes(bytes: Buffer, numbers: SeededNumbers): Buffer {
  const at = numbers.next(bytes.length);
  const copy = Buffer.from(bytes);
  switch (numbers.next(7)) {
    case 0:
      copy[at]! ^= 1 << numbers.next(8);
      return copy;
    case 1:
      copy[at] = numbers.pick(bytesOfInterest);
      return copy;
    case 2:
      return copy.subarray(0, Math.max(1, at));
    case 3:
      return Buffer.concat([copy.subarray(0, at), numbers.bytes(1 + numbers.next(40)), copy.subarray(at)]);
    case 4:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(at + 1 + numbers.next(10)), Buffer.of(0)]);
    case 5:
      return Buffer.concat([copy, numbers.bytes(1 + numbers.next(200))]);
    default:
      // Repeats the whole answer many times, as one piece.
      return repeated(copy, numbers.pick([2, 30, 3000]));
  }
}

function repeated(bytes: Buffer, times: number): Buffer {
  const most = Math.ceil(largest / Math.max(1, bytes.length));
  return Buffer.concat(Array<Buffer>(Math.min(times, most)).fill(bytes));
}

/** Mutates one element and corrects the lengths of the elements around it. */
function withChangedElement(bytes: Buffer, numbers: SeededNumbers): Buffer {
  const trees = bytes.length < 4096 ? treesOf(bytes) : undefined;
  if (trees === undefined) return withChangedBytes(bytes, numbers);
  const all = trees.flatMap(withDescendants);
  const node = numbers.pick(all);
  switch (numbers.next(8)) {
    case 0:
      node.tag = numbers.pick(tags);
      break;
    case 1:
      node.length = Buffer.from(numbers.pick(wrongLengths), 'hex');
      break;
    case 2:
      node.content = numbers.bytes(numbers.next(6));
      break;
    case 3:
      node.content = Buffer.alloc(0);
      break;
    case 4:
      node.content = Buffer.alloc(numbers.pick([200, 70_000, largest]), numbers.pick([0x00, 0x04, 0x41]));
      break;
    case 5: {
      // A long list of one element.
      const one = Array.isArray(node.content)
        ? encoded(numbers.pick(all))
        : element(0x04, node.content.subarray(0, 40));
      node.content = repeated(one, numbers.pick([2, 20, 5000]));
      break;
    }
    case 6: {
      let nested = encoded(node);
      for (let depth = numbers.pick([1, 5, 300]); depth > 0; depth--)
        nested = element(numbers.pick([0x30, 0x31, 0xa0]), nested);
      node.content = nested;
      break;
    }
    default:
      if (!Array.isArray(node.content))
        node.content = Buffer.from(numbers.pick(['dn', 'controls', '__proto__', 'uid']));
      else node.content.splice(numbers.next(node.content.length + 1), 1);
  }
  return Buffer.concat(trees.map(encoded));
}

/** Returns undefined when the bytes are not elements any more. */
function treesOf(bytes: Buffer): Node[] | undefined {
  try {
    const found = elements(bytes);
    if (!Buffer.concat(found).equals(bytes)) return undefined;
    return found.map((one) => {
      const tag = one[0]!;
      const inside = (tag & 0x20) === 0 ? undefined : treesOf(contentOf(one));
      return { tag, content: inside ?? contentOf(one) };
    });
  } catch {
    return undefined;
  }
}

function withDescendants(node: Node): Node[] {
  return [node, ...(!Array.isArray(node.content) ? [] : node.content.flatMap(withDescendants))];
}

function encoded({ tag, content, length }: Node): Buffer {
  const inside = !Array.isArray(content) ? content : Buffer.concat(content.map(encoded));
  return length === undefined ? element(tag, inside) : Buffer.concat([Buffer.of(tag), length, inside]);
}
