'use strict';

/**
 * An encoder for the part of WebAssembly's binary format that bcrypt needs
 * (W3C, WebAssembly Core Specification 2.0, chapter 5).
 *
 * @typedef {readonly number[]} Code The bytes of an instruction, after the bytes of its operands.
 *
 * @typedef {object} ModuleDescription
 * @property {number} pages Size of the memory in pages of 64 KiB. All bytes outside `data` are zero.
 * @property {{ address: number, bytes: Uint8Array }} data
 * @property {readonly { locals: number, body: Code }[]} functions Each function takes one i32 and returns nothing.
 *   `call` names a function by its index in this list.
 * @property {string} exportName The name under which the last function is exported. The memory is exported as `memory`.
 */

const I32 = 0x7f;
const NO_RESULT = 0x40;
const END = 0x0b;
const ALIGNED_TO_FOUR_BYTES = 2;

/** @param {number} opcode @returns {(left: Code, right: Code) => Code} */
const binary = (opcode) => (left, right) => [...left, ...right, opcode];

const add = binary(0x6a);
const subtract = binary(0x6b);
const and = binary(0x71);
const xor = binary(0x73);
const shiftLeft = binary(0x74);
const shiftRight = binary(0x76);
const isLess = binary(0x49);

/** @param {number} value @returns {Code} */
const constant = (value) => [0x41, ...signedLeb128(value | 0)];
/** @param {number} local @returns {Code} */
const getLocal = (local) => [0x20, ...unsignedLeb128(local)];
/** @param {number} local @param {Code} value @returns {Code} */
const setLocal = (local, value) => [...value, 0x21, ...unsignedLeb128(local)];

/** @param {number} offset @param {Code} [address] @returns {Code} */
const load = (offset, address = constant(0)) => [...address, 0x28, ALIGNED_TO_FOUR_BYTES, ...unsignedLeb128(offset)];
/** @param {number} offset @param {Code} value @param {Code} [address] @returns {Code} */
const store = (offset, value, address = constant(0)) => [
  ...[...address, ...value, 0x36, ALIGNED_TO_FOUR_BYTES],
  ...unsignedLeb128(offset),
];
/** `memory.copy`. @param {number} to @param {number} from @param {number} bytes @returns {Code} */
const copy = (to, from, bytes) => [
  ...[...constant(to), ...constant(from), ...constant(bytes)],
  ...[0xfc, 0x0a, 0x00, 0x00],
];

/** @param {number} index @param {Code} [argument] @returns {Code} */
const call = (index, argument = constant(0)) => [...argument, 0x10, ...unsignedLeb128(index)];

/**
 * Runs the body once, and again while the condition is not zero.
 * @param {Code} body
 * @param {Code} condition
 * @returns {Code}
 */
const doWhile = (body, condition) => [0x03, NO_RESULT, ...body, ...condition, 0x0d, 0x00, END];

/** @param {ModuleDescription} description */
function encodeModule({ pages, data, functions, exportName }) {
  const bodies = functions.map(({ locals, body }) => sized([1, ...unsignedLeb128(locals), I32, ...body, END]));
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // "\0asm", version 1
    ...section(1, vector([[0x60, 1, I32, 0]])), //           one type: (i32) -> ()
    ...section(3, vector(functions.map(() => [0]))),
    ...section(5, vector([[0x00, ...unsignedLeb128(pages)]])),
    ...section(7, vector([exported(exportName, 0x00, functions.length - 1), exported('memory', 0x02, 0)])),
    ...section(10, vector(bodies)),
    ...section(11, vector([[0x00, ...constant(data.address), END, ...sized([...data.bytes])]])),
  ]);
}

/** @param {number} id @param {Code} content @returns {Code} */
const section = (id, content) => [id, ...sized(content)];
/** @param {Code} content @returns {Code} */
const sized = (content) => [...unsignedLeb128(content.length), ...content];
/** @param {readonly Code[]} items @returns {Code} */
const vector = (items) => [...unsignedLeb128(items.length), ...items.flat()];
/** @param {string} name @param {number} kind @param {number} index @returns {Code} */
const exported = (name, kind, index) => [...sized([...Buffer.from(name)]), kind, ...unsignedLeb128(index)];

/** @param {number} value @returns {Code} */
function unsignedLeb128(value) {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsignedLeb128(value >>> 7)];
}

/** @param {number} value @returns {Code} */
function signedLeb128(value) {
  return value >= -0x40 && value < 0x40 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signedLeb128(value >> 7)];
}

module.exports = {
  add,
  and,
  call,
  constant,
  copy,
  doWhile,
  encodeModule,
  getLocal,
  isLess,
  load,
  setLocal,
  shiftLeft,
  shiftRight,
  store,
  subtract,
  xor,
};
