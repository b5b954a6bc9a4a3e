import {
  add,
  and,
  assemble,
  call,
  Code,
  constant,
  copy,
  get,
  isLess,
  load,
  repeat,
  set,
  shiftLeft,
  shiftRight,
  store,
  subtract,
  xor,
} from './wasm';
import { DIGITS_OF_PI } from './digits-of-pi';

const WORD = 4;
const P_BYTES = 18 * WORD;
const S_BYTES = 256 * WORD;
const STATE_BYTES = P_BYTES + 4 * S_BYTES;
export const KEY_BYTES = P_BYTES;
export const SALT_BYTES = 16;
export const OUTPUT_BYTES = 24;

// Passwords at a time. Each round waits for its look-ups, the next round waits for it: one password leaves most of a core
// idle. A second one fills the gaps; a third finds too few registers and gains nothing (ADR 0016).
export const LANES = [0, 1] as const;

// Each lane's P-array, S-boxes, key, salt and output lie in one piece, after them the digits that both start from and
// the text that both encipher.
const LANE_BYTES = STATE_BYTES + KEY_BYTES + SALT_BYTES + OUTPUT_BYTES;
const stateOf = (lane: number): number => lane * LANE_BYTES;
export const inputAt = (lane: number): number => stateOf(lane) + STATE_BYTES;
const saltAt = (lane: number): number => inputAt(lane) + KEY_BYTES;
export const outputAt = (lane: number): number => saltAt(lane) + SALT_BYTES;
const DIGITS = stateOf(LANES.length);
const TEXT = DIGITS + STATE_BYTES;

// Local 0 is the function's argument.
const COUNTER = 1;
const left = (lane: number): number => 2 + 2 * lane;
const right = (lane: number): number => 3 + 2 * lane;
const LOCALS = 1 + 2 * LANES.length;

const EXPAND = 0;
const EXPAND_WITH_SALT = 1;
const FINISH = 2;

/**
 * bcrypt's core for two passwords at once, each with its own salt, of one cost (Provos and Mazières, "A Future-Adaptable
 * Password Scheme", 1999): a WebAssembly module that exports `memory` and `run(rounds)`, rounds being 2 to the power of the
 * cost. Key and salt of a lane lie at `inputAt`, its output at `outputAt`: words, little-endian as WebAssembly has them.
 */
export function eksBlowfish(): Uint8Array<ArrayBuffer> {
  const cipher = encipher();
  return assemble({
    pages: 1,
    data: { address: DIGITS, bytes: Buffer.concat([DIGITS_OF_PI, Buffer.from('OrpheanBeholderScryDoubt')]).swap32() },
    functions: [expand(cipher), expandWithSalt(cipher), finish(cipher), run()].map((body) => ({
      locals: LOCALS,
      body,
    })),
    export: 'run',
  });
}

/** EksBlowfishSetup, then the text enciphered. */
function run(): Code {
  const rounds = 0;
  return [
    ...each((lane) => copy(stateOf(lane), DIGITS, STATE_BYTES)),
    ...mixKey(),
    ...call(EXPAND_WITH_SALT),
    ...repeat(
      [...mixKey(), ...call(EXPAND), ...mixSalt(), ...call(EXPAND), ...set(rounds, subtract(get(rounds), constant(1)))],
      get(rounds),
    ),
    ...each((lane) => copy(outputAt(lane), TEXT, OUTPUT_BYTES)),
    ...[0, 2, 4].flatMap((word) => call(FINISH, constant(word * WORD))),
  ];
}

/** Replaces P-array and S-boxes, two words at a time, by what enciphering the two before gives. */
function expand(cipher: Code, beforeEach: Code = []): Code {
  return [
    ...each((lane) => [...set(left(lane), constant(0)), ...set(right(lane), constant(0))]),
    ...set(COUNTER, constant(0)),
    ...repeat(
      [
        ...beforeEach,
        ...cipher,
        ...each((lane) => [
          ...store(stateOf(lane), get(left(lane)), get(COUNTER)),
          ...store(stateOf(lane) + WORD, get(right(lane)), get(COUNTER)),
        ]),
        ...set(COUNTER, add(get(COUNTER), constant(2 * WORD))),
      ],
      isLess(get(COUNTER), constant(STATE_BYTES)),
    ),
  ];
}

/** The same with the two halves of the salt in turns. */
function expandWithSalt(cipher: Code): Code {
  const half = and(get(COUNTER), constant(2 * WORD));
  return expand(
    cipher,
    each((lane) => [
      ...set(left(lane), xor(get(left(lane)), load(saltAt(lane), half))),
      ...set(right(lane), xor(get(right(lane)), load(saltAt(lane) + WORD, half))),
    ]),
  );
}

/** Each two words of the text are enciphered 64 times. */
function finish(cipher: Code): Code {
  const offset = 0;
  return [
    ...each((lane) => [
      ...set(left(lane), load(outputAt(lane), get(offset))),
      ...set(right(lane), load(outputAt(lane) + WORD, get(offset))),
    ]),
    ...set(COUNTER, constant(64)),
    ...repeat([...cipher, ...set(COUNTER, subtract(get(COUNTER), constant(1)))], get(COUNTER)),
    ...each((lane) => [
      ...store(outputAt(lane), get(left(lane)), get(offset)),
      ...store(outputAt(lane) + WORD, get(right(lane)), get(offset)),
    ]),
  ];
}

const mixKey = (): Code => mix((lane, word) => inputAt(lane) + word * WORD);
const mixSalt = (): Code => mix((lane, word) => saltAt(lane) + (word % 4) * WORD);

function mix(address: (lane: number, word: number) => number): Code {
  const words = Array.from({ length: P_BYTES / WORD }, (_, word) => word);
  return each((lane) =>
    words.flatMap((word) => {
      const p = stateOf(lane) + word * WORD;
      return store(p, xor(load(p), load(address(lane, word))));
    }),
  );
}

/** Blowfish on left and right of all lanes, round by round: what one lane waits for, the other one uses. */
function encipher(): Code {
  const rounds = Array.from({ length: 8 }, (_, pair) => [
    ...each((lane) => round(lane, left(lane), right(lane), 2 * pair + 1)),
    ...each((lane) => round(lane, right(lane), left(lane), 2 * pair + 2)),
  ]);
  return [
    ...each((lane) => set(left(lane), xor(get(left(lane)), load(stateOf(lane))))),
    ...rounds.flat(),
    // The halves change places; the stack holds one of them meanwhile.
    ...each((lane) => [
      ...xor(get(right(lane)), load(stateOf(lane) + 17 * WORD)),
      ...set(right(lane), get(left(lane))),
      ...set(left(lane), []),
    ]),
  ];
}

function round(lane: number, from: number, into: number, n: number): Code {
  // A byte times four is the address of its word.
  const lookUp = (box: number, shifted: Code): Code =>
    load(stateOf(lane) + P_BYTES + box * S_BYTES, and(shifted, constant(0xff * WORD)));
  const first = lookUp(0, shiftRight(get(from), constant(22)));
  const second = lookUp(1, shiftRight(get(from), constant(14)));
  const third = lookUp(2, shiftRight(get(from), constant(6)));
  const fourth = lookUp(3, shiftLeft(get(from), constant(2)));
  const mixed = add(xor(add(first, second), third), fourth);
  return set(into, xor(xor(get(into), load(stateOf(lane) + n * WORD)), mixed));
}

function each(emit: (lane: number) => Code): Code {
  return LANES.flatMap((lane) => [...emit(lane)]);
}
