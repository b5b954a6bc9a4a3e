import {
  add,
  call,
  constant,
  copy,
  doWhile,
  encodeModule,
  getLocal,
  isLess,
  load,
  setLocal,
  store,
  subtract,
} from '../src/wasm-encoder';
import type { Code } from '../src/wasm-encoder';

interface Instance {
  exports: { memory: { buffer: ArrayBuffer }; run(argument: number): void };
}

declare const WebAssembly: { Module: new (code: Uint8Array) => object; Instance: new (module: object) => Instance };

/** The word at each of these addresses after the last of the functions has run. */
function wordsAfter(functions: Code[], argument: number, addresses: number[], bytes = new Uint8Array(0)): number[] {
  const data = { address: 4096, bytes };
  const bodies = functions.map((body) => ({ locals: 2, body }));
  const code = encodeModule({ pages: 1, data, functions: bodies, exportName: 'run' });
  const { memory, run } = new WebAssembly.Instance(new WebAssembly.Module(code)).exports;
  run(argument);
  return addresses.map((address) => new DataView(memory.buffer).getInt32(address, true));
}

describe('the encoder of WebAssembly', () => {
  it.each([0, 63, 64, -64, -65, 127, 128, 8191, 8192, 2 ** 31 - 1, -(2 ** 31)])('keeps the constant %d', (value) => {
    expect(wordsAfter([store(0, constant(value))], 0, [0])).toEqual([value]);
  });

  it('encodes a number above 2^31 as the same 32 bits', () => {
    expect(wordsAfter([store(0, constant(0xffff_fffe))], 0, [0])).toEqual([-2]);
  });

  it.each([0, 124, 128, 16_380, 16_384, 65_532])('reads and writes at the offset %d', (offset) => {
    expect(wordsAfter([[...store(offset, constant(7)), ...store(8, load(offset))]], 0, [offset, 8])).toEqual([7, 7]);
  });

  it('repeats a body while the condition holds', () => {
    const sum = doWhile(
      [...setLocal(1, add(getLocal(1), getLocal(0))), ...setLocal(0, subtract(getLocal(0), constant(1)))],
      isLess(constant(0), getLocal(0)),
    );
    expect(wordsAfter([[...sum, ...store(0, getLocal(1))]], 100, [0])).toEqual([5050]);
  });

  it('calls functions with an argument, copies memory and starts with the data', () => {
    const twice = store(0, add(getLocal(0), getLocal(0)));
    const main = [...call(0, constant(21)), ...copy(16, 4096, 4)];
    expect(wordsAfter([twice, main], 0, [0, 16], Uint8Array.of(1, 2, 0, 0))).toEqual([42, 513]);
  });
});
