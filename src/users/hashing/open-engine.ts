import { createRequire } from 'node:module';
import { BcryptEngine } from './bcrypt-engine';
import { Comparison, inputOf, isSame, roundsOf } from './pair/comparison';
import { eksBlowfish, keyOf, LANES, OUTPUT_BYTES, outputOf } from './pair/eks-blowfish';
import { WorkerPool } from './worker-pool';

export type EngineChoice = 'native' | 'bcryptjs' | 'auto';

type Request =
  { password: string; cost: number } | { password: string; hash: string } | { inputs: Uint8Array[]; rounds: number };

const PACKAGES = { native: '@node-rs/bcrypt', bcryptjs: 'bcryptjs' } as const;

// Plain JavaScript in a string, with the library by its absolute path: so it runs alike from compiled code and from
// TypeScript under test, where a worker's file would have two names. The blocking calls are right here: the thread has
// nothing else to do, and the native library stays out of libuv's pool, which DNS and files need (ADR 0004). On Linux a
// thread has a priority of its own: hashes take what the event loop and the database leave, so that who is already in does
// not notice a storm of logins. Elsewhere it would be that of the whole process.
const WORKER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { constants, setPriority } = require('node:os');
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const bcrypt = require(workerData.module);
  const options = (cost) => (workerData.name === 'native' ? { cost } : cost);
  const { pair } = workerData;
  let core;
  const outputs = ({ inputs, rounds }) => {
    core ??= new WebAssembly.Instance(new WebAssembly.Module(pair.code)).exports;
    const memory = new Uint8Array(core.memory.buffer);
    inputs.forEach((input, lane) => memory.set(input, pair.inputs[lane]));
    core.run(rounds);
    return pair.outputs.map((at) => memory.slice(at, at + pair.outputBytes));
  };
  parentPort.on('message', (request) => {
    try {
      const { password, cost, hash } = request;
      const value =
        request.inputs ? outputs(request) :
        hash === undefined ? bcrypt.hashSync(password, options(cost)) : bcrypt.compareSync(password, hash);
      parentPort.postMessage({ value });
    } catch (error) {
      parentPort.postMessage({ error: error.message });
    }
  });
`;

/**
 * Opens the asked library; `auto` takes the native one where its binary loads and bcryptjs where not.
 * @param load throws when the package cannot be used on this machine
 * @throws Error for `native` when its binary does not load
 */
export function openEngine(
  choice: EngineChoice,
  load: (id: string) => unknown = createRequire(__filename),
): BcryptEngine {
  if (choice === 'bcryptjs') return engine('bcryptjs');
  try {
    load(PACKAGES.native);
    return engine('native');
  } catch (cause) {
    if (choice === 'native') throw new Error(`${PACKAGES.native} does not load on this machine`, { cause });
    return engine('bcryptjs');
  }
}

function engine(name: BcryptEngine['name']): BcryptEngine {
  const module = require.resolve(PACKAGES[name]);
  const pool = new WorkerPool<Request, unknown>(WORKER, () => ({ name, module, pair: pairData() }));
  const verify = async ({ password, hash }: Comparison) => (await pool.run({ password, hash })) === true;
  return {
    name,
    hash: async (password, cost) => String(await pool.run({ password, cost })),
    verify: (password, hash) => verify({ password, hash }),
    verifyPair: async (first, second) => {
      if (!hasWebAssembly()) return [await verify(first), await verify(second)];
      const inputs = [inputOf(first), inputOf(second)];
      const [one, other] = (await pool.run({ inputs, rounds: roundsOf(first) })) as [Uint8Array, Uint8Array];
      return [isSame(first, one), isSame(second, other)];
    },
    close: () => pool.close(),
  };
}

// Node has none when it is started with --jitless.
const hasWebAssembly = (): boolean => 'WebAssembly' in globalThis;

// Written when the first thread starts, and once for all of them: V8 compiles equal bytes once.
let code: Uint8Array | undefined;

function pairData() {
  code ??= eksBlowfish();
  return { code, inputs: LANES.map(keyOf), outputs: LANES.map(outputOf), outputBytes: OUTPUT_BYTES };
}
