/** As much of WebAssembly's binary format as the hash needs (W3C, WebAssembly Core Specification 2.0, chapter 5). */

/** Bytes of an instruction together with the instructions that leave its operands on the stack. */
export type Code = readonly number[];

export interface Module {
  /** Of 64 KiB, all zero but for `data` at its address. */
  readonly pages: number;
  readonly data: { readonly address: number; readonly bytes: Uint8Array };
  /** Functions of one i32 each that answer nothing; called by their place in this list. */
  readonly functions: readonly { readonly locals: number; readonly body: Code }[];
  /** The last function under this name, the memory as `memory`. */
  readonly export: string;
}

const I32 = 0x7f;
const NO_RESULT = 0x40;
const END = 0x0b;
const binary =
  (opcode: number) =>
  (left: Code, right: Code): Code => [...left, ...right, opcode];
const ALIGNED_TO_FOUR = 2;

export const add = binary(0x6a);
export const subtract = binary(0x6b);
export const and = binary(0x71);
export const xor = binary(0x73);
export const shiftLeft = binary(0x74);
export const shiftRight = binary(0x76);
export const isLess = binary(0x49);

export const constant = (value: number): Code => [0x41, ...signed(value | 0)];
export const get = (local: number): Code => [0x20, ...unsigned(local)];
export const set = (local: number, value: Code): Code => [...value, 0x21, ...unsigned(local)];

export const load = (offset: number, address: Code = constant(0)): Code => [
  ...[...address, 0x28, ALIGNED_TO_FOUR],
  ...unsigned(offset),
];
export const store = (offset: number, value: Code, address: Code = constant(0)): Code => [
  ...[...address, ...value, 0x36, ALIGNED_TO_FOUR],
  ...unsigned(offset),
];
export const copy = (to: number, from: number, bytes: number): Code => [
  ...[...constant(to), ...constant(from), ...constant(bytes)],
  ...[0xfc, 0x0a, 0x00, 0x00],
];

export const call = (place: number, argument: Code = constant(0)): Code => [...argument, 0x10, ...unsigned(place)];
/** Does the body, then again for as long as the condition is not zero. */
export const repeat = (body: Code, condition: Code): Code => [
  ...[0x03, NO_RESULT],
  ...body,
  ...[...condition, 0x0d, 0x00],
  END,
];

export function assemble({ pages, data, functions, export: name }: Module): Uint8Array<ArrayBuffer> {
  const bodies = functions.map(({ locals, body }) => sized([1, ...unsigned(locals), I32, ...body, END]));
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, list([[0x60, 1, I32, 0]])),
    ...section(3, list(functions.map(() => [0]))),
    ...section(5, list([[0x00, ...unsigned(pages)]])),
    ...section(7, list([exported(name, 0x00, functions.length - 1), exported('memory', 0x02, 0)])),
    ...section(10, list(bodies)),
    ...section(11, list([[0x00, ...constant(data.address), END, ...sized([...data.bytes])]])),
  ]);
}

const section = (id: number, content: Code): Code => [id, ...sized(content)];
const sized = (content: Code): Code => [...unsigned(content.length), ...content];
const list = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
const exported = (name: string, kind: number, place: number): Code => [
  ...sized([...Buffer.from(name)]),
  kind,
  ...unsigned(place),
];

/** LEB128 of a natural number. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** LEB128 of an i32. */
function signed(value: number): Code {
  return value >= -0x40 && value < 0x40 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
