import { add, assemble, call, constant, copy, get, isLess, load, repeat, set, store, subtract } from './wasm';
import type { Code } from './wasm';

interface Instance {
  exports: { memory: { buffer: ArrayBuffer }; run(argument: number): void };
}

declare const WebAssembly: { Module: new (code: Uint8Array) => object; Instance: new (module: object) => Instance };

/** The word at each of these addresses after the last of the functions has run. */
function wordsAfter(functions: Code[], argument: number, addresses: number[], bytes = new Uint8Array(0)): number[] {
  const data = { address: 4096, bytes };
  const code = assemble({ pages: 1, data, functions: functions.map((body) => ({ locals: 2, body })), export: 'run' });
  const { memory, run } = new WebAssembly.Instance(new WebAssembly.Module(code)).exports;
  run(argument);
  return addresses.map((address) => new DataView(memory.buffer).getInt32(address, true));
}

describe('what the assembler writes', () => {
  it.each([0, 63, 64, -64, -65, 127, 128, 8191, 8192, 2 ** 31 - 1, -(2 ** 31)])('keeps the constant %d', (value) => {
    expect(wordsAfter([store(0, constant(value))], 0, [0])).toEqual([value]);
  });

  it('takes a number over 2^31 for the same bits', () => {
    expect(wordsAfter([store(0, constant(0xffff_fffe))], 0, [0])).toEqual([-2]);
  });

  it.each([0, 124, 128, 16_380, 16_384, 65_532])('reaches the offset %d', (offset) => {
    expect(wordsAfter([[...store(offset, constant(7)), ...store(8, load(offset))]], 0, [offset, 8])).toEqual([7, 7]);
  });

  it('repeats as long as the condition holds', () => {
    const sum = repeat(
      [...set(1, add(get(1), get(0))), ...set(0, subtract(get(0), constant(1)))],
      isLess(constant(0), get(0)),
    );
    expect(wordsAfter([[...sum, ...store(0, get(1))]], 100, [0])).toEqual([5050]);
  });

  it('calls functions with an argument, copies bytes and starts with the data', () => {
    const twice = store(0, add(get(0), get(0)));
    const main = [...call(0, constant(21)), ...copy(16, 4096, 4)];
    expect(wordsAfter([twice, main], 0, [0, 16], Uint8Array.of(1, 2, 0, 0))).toEqual([42, 513]);
  });
});
