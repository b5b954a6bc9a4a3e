'use strict';

const wasm = require('./wasm-encoder');
const { add, and, call, constant, copy, doWhile, getLocal, isLess, load, setLocal, store, subtract, xor } = wasm;
const { shiftLeft, shiftRight } = wasm;
const { DIGITS_OF_PI } = require('./digits-of-pi');

/** @typedef {import('./wasm-encoder').Code} Code */

const WORD = 4;
const P_BYTES = 18 * WORD;
const S_BYTES = 256 * WORD;
const STATE_BYTES = P_BYTES + 4 * S_BYTES;
const KEY_BYTES = P_BYTES;
const SALT_BYTES = 16;
const OUTPUT_BYTES = 24;

/**
 * One lane for each of the two passwords that are compared at once. A round of Blowfish waits for four table look-ups,
 * and the next round waits for its result. One password therefore leaves most of a core idle, and a second password
 * uses that time. A third password does not pay, because V8 runs out of registers (measured, README).
 */
const LANES = /** @type {const} */ ([0, 1]);

// Memory layout. Each lane has its P-array, S-boxes, key, salt and output in one piece. After the lanes come the digits
// of pi that both lanes start from, and the text that both lanes encipher.
const LANE_BYTES = STATE_BYTES + KEY_BYTES + SALT_BYTES + OUTPUT_BYTES;
/** @param {number} lane */
const stateAddress = (lane) => lane * LANE_BYTES;
/** @param {number} lane */
const inputAddress = (lane) => stateAddress(lane) + STATE_BYTES;
/** @param {number} lane */
const saltAddress = (lane) => inputAddress(lane) + KEY_BYTES;
/** @param {number} lane */
const outputAddress = (lane) => saltAddress(lane) + SALT_BYTES;
const DIGITS = stateAddress(LANES.length);
const TEXT = DIGITS + STATE_BYTES;

// Local variables of each function. Local 0 is its argument.
const COUNTER = 1;
/** The left half of the block of a lane. @param {number} lane */
const left = (lane) => 2 + 2 * lane;
/** The right half of the block of a lane. @param {number} lane */
const right = (lane) => 3 + 2 * lane;
const LOCALS = 1 + 2 * LANES.length;

// Indices of the functions in the module.
const EXPAND_KEY = 0;
const EXPAND_KEY_WITH_SALT = 1;
const ENCIPHER_OUTPUT = 2;

/**
 * bcrypt's core for two passwords at once, each with its own salt, both with the same cost (Provos and Mazières,
 * "A Future-Adaptable Password Scheme", USENIX 1999). The WebAssembly module exports `memory` and `run(rounds)`, where
 * `rounds` is 2 to the power of the cost. Write the key and the salt of a lane at `inputAddress`, call `run`, and read
 * the output at `outputAddress`. Inputs and outputs are 32-bit words in little-endian order.
 */
function eksBlowfishModule() {
  const cipher = encipher();
  return wasm.encodeModule({
    pages: 1,
    data: { address: DIGITS, bytes: Buffer.concat([DIGITS_OF_PI, Buffer.from('OrpheanBeholderScryDoubt')]).swap32() },
    functions: [expandKey(cipher), expandKeyWithSalt(cipher), encipherOutput(cipher), run()].map((body) => ({
      locals: LOCALS,
      body,
    })),
    exportName: 'run',
  });
}

/** The main function: EksBlowfishSetup, then the encipherment of the text. @returns {Code} */
function run() {
  const rounds = 0;
  return [
    ...eachLane((lane) => copy(stateAddress(lane), DIGITS, STATE_BYTES)),
    ...mixKey(),
    ...call(EXPAND_KEY_WITH_SALT),
    ...doWhile(
      [
        ...[...mixKey(), ...call(EXPAND_KEY)],
        ...[...mixSalt(), ...call(EXPAND_KEY)],
        ...setLocal(rounds, subtract(getLocal(rounds), constant(1))),
      ],
      getLocal(rounds),
    ),
    ...eachLane((lane) => copy(outputAddress(lane), TEXT, OUTPUT_BYTES)),
    ...[0, 2, 4].flatMap((word) => call(ENCIPHER_OUTPUT, constant(word * WORD))),
  ];
}

/**
 * Replaces the P-array and the S-boxes, two words at a time, by the encipherment of the two words before.
 * @param {Code} cipher
 * @param {Code} [beforeEach]
 * @returns {Code}
 */
function expandKey(cipher, beforeEach = []) {
  return [
    ...eachLane((lane) => [...setLocal(left(lane), constant(0)), ...setLocal(right(lane), constant(0))]),
    ...setLocal(COUNTER, constant(0)),
    ...doWhile(
      [
        ...beforeEach,
        ...cipher,
        ...eachLane((lane) => [
          ...store(stateAddress(lane), getLocal(left(lane)), getLocal(COUNTER)),
          ...store(stateAddress(lane) + WORD, getLocal(right(lane)), getLocal(COUNTER)),
        ]),
        ...setLocal(COUNTER, add(getLocal(COUNTER), constant(2 * WORD))),
      ],
      isLess(getLocal(COUNTER), constant(STATE_BYTES)),
    ),
  ];
}

/** As `expandKey`, with the two halves of the salt mixed in alternately. @param {Code} cipher @returns {Code} */
function expandKeyWithSalt(cipher) {
  const half = and(getLocal(COUNTER), constant(2 * WORD));
  return expandKey(
    cipher,
    eachLane((lane) => [
      ...setLocal(left(lane), xor(getLocal(left(lane)), load(saltAddress(lane), half))),
      ...setLocal(right(lane), xor(getLocal(right(lane)), load(saltAddress(lane) + WORD, half))),
    ]),
  );
}

/** Enciphers one block of the text 64 times. @param {Code} cipher @returns {Code} */
function encipherOutput(cipher) {
  const offset = 0;
  return [
    ...eachLane((lane) => [
      ...setLocal(left(lane), load(outputAddress(lane), getLocal(offset))),
      ...setLocal(right(lane), load(outputAddress(lane) + WORD, getLocal(offset))),
    ]),
    ...setLocal(COUNTER, constant(64)),
    ...doWhile([...cipher, ...setLocal(COUNTER, subtract(getLocal(COUNTER), constant(1)))], getLocal(COUNTER)),
    ...eachLane((lane) => [
      ...store(outputAddress(lane), getLocal(left(lane)), getLocal(offset)),
      ...store(outputAddress(lane) + WORD, getLocal(right(lane)), getLocal(offset)),
    ]),
  ];
}

const mixKey = () => mixIntoP((lane, word) => inputAddress(lane) + word * WORD);
const mixSalt = () => mixIntoP((lane, word) => saltAddress(lane) + (word % 4) * WORD);

/** @param {(lane: number, word: number) => number} addressOf @returns {Code} */
function mixIntoP(addressOf) {
  const words = Array.from({ length: P_BYTES / WORD }, (_, word) => word);
  return eachLane((lane) =>
    words.flatMap((word) => {
      const p = stateAddress(lane) + word * WORD;
      return store(p, xor(load(p), load(addressOf(lane, word))));
    }),
  );
}

/** Blowfish on the block of each lane. The rounds alternate, so that neither lane's look-ups stall the core. */
function encipher() {
  const rounds = Array.from({ length: 8 }, (_, pair) => [
    ...eachLane((lane) => round(lane, left(lane), right(lane), 2 * pair + 1)),
    ...eachLane((lane) => round(lane, right(lane), left(lane), 2 * pair + 2)),
  ]);
  return [
    ...eachLane((lane) => setLocal(left(lane), xor(getLocal(left(lane)), load(stateAddress(lane))))),
    ...rounds.flat(),
    // Swaps the halves: the new left half waits on the stack until the right half has its value.
    ...eachLane((lane) => [
      ...xor(getLocal(right(lane)), load(stateAddress(lane) + 17 * WORD)),
      ...setLocal(right(lane), getLocal(left(lane))),
      ...setLocal(left(lane), []),
    ]),
  ];
}

/**
 * @param {number} lane
 * @param {number} from
 * @param {number} into
 * @param {number} n index in the P-array
 * @returns {Code}
 */
function round(lane, from, into, n) {
  // The shifts leave each byte multiplied by four, which is the address of its word in the S-box.
  /** @param {number} box @param {Code} shifted */
  const lookUp = (box, shifted) =>
    load(stateAddress(lane) + P_BYTES + box * S_BYTES, and(shifted, constant(0xff * WORD)));
  const first = lookUp(0, shiftRight(getLocal(from), constant(22)));
  const second = lookUp(1, shiftRight(getLocal(from), constant(14)));
  const third = lookUp(2, shiftRight(getLocal(from), constant(6)));
  const fourth = lookUp(3, shiftLeft(getLocal(from), constant(2)));
  const mixed = add(xor(add(first, second), third), fourth);
  return setLocal(into, xor(xor(getLocal(into), load(stateAddress(lane) + n * WORD)), mixed));
}

/** @param {(lane: number) => Code} emit @returns {Code} */
function eachLane(emit) {
  return LANES.flatMap((lane) => [...emit(lane)]);
}

module.exports = { eksBlowfishModule, inputAddress, KEY_BYTES, OUTPUT_BYTES, outputAddress, SALT_BYTES };
