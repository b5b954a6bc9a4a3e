import { createRequire } from 'node:module';
import { BcryptEngine, Comparison } from './bcrypt-engine';
import { inputOf, isSame, roundsOf } from './pair/comparison';
import { eksBlowfish, inputAt, LANES, OUTPUT_BYTES, outputAt } from './pair/eks-blowfish';
import { WorkerPool } from './worker-pool';

export type EngineChoice = 'native' | 'bcryptjs' | 'auto';

type Request =
  | { password: string; cost: number }
  | Comparison
  | { pair: [Comparison, Comparison]; inputs: Uint8Array[]; rounds: number };

const PACKAGES = { native: '@node-rs/bcrypt', bcryptjs: 'bcryptjs' } as const;

// Plain JavaScript in a string, with the library by its absolute path: so it runs alike from compiled code and from
// TypeScript under test, where a worker's file would have two names. The blocking calls are right here: the thread has
// nothing else to do, and the native library stays out of libuv's pool, which DNS and files need (ADR 0004). On Linux a
// thread has a priority of its own: hashes take what the event loop and the database leave, so that who is already in does
// not notice a storm of logins. Elsewhere it would be that of the whole process. A system may forbid it (EACCES, EPERM):
// the thread then works at the priority that it has.
// Where WebAssembly is missing (--jitless) or finds no room (10 GB of addresses for each memory, `ulimit -v`) the library
// compares the two one after the other.
const WORKER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { constants, setPriority } = require('node:os');
  if (process.platform === 'linux') {
    try {
      setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {}
  }
  const bcrypt = require(workerData.module);
  const options = (cost) => (workerData.name === 'native' ? { cost } : cost);
  const verify = ({ password, hash }) => bcrypt.compareSync(password, hash);

  const lanes = workerData.pair;
  let core;
  const openCore = () => {
    try {
      return new WebAssembly.Instance(new WebAssembly.Module(lanes.code)).exports;
    } catch {
      return null;
    }
  };
  const verifyPair = ({ pair, inputs, rounds }) => {
    if (core === undefined) core = openCore();
    if (core === null) return { verdicts: pair.map(verify) };
    const memory = new Uint8Array(core.memory.buffer);
    inputs.forEach((input, lane) => memory.set(input, lanes.inputs[lane]));
    core.run(rounds);
    return { outputs: lanes.outputs.map((at) => memory.slice(at, at + lanes.outputBytes)) };
  };

  const answer = (request) => {
    if (request.pair) return verifyPair(request);
    return request.hash === undefined ? bcrypt.hashSync(request.password, options(request.cost)) : verify(request);
  };
  parentPort.on('message', (request) => {
    try {
      parentPort.postMessage({ value: answer(request) });
    } catch (error) {
      parentPort.postMessage({ error: error.message });
    }
  });
`;

type PairReply = { verdicts: [boolean, boolean] } | { outputs: [Uint8Array, Uint8Array] };

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
  const pool = new WorkerPool<Request, unknown>(WORKER, () => ({ name, module, pair: lanes() }));
  return {
    name,
    hash: async (password, cost) => String(await pool.run({ password, cost })),
    verify: async (password, hash) => (await pool.run({ password, hash })) === true,
    verifyPair: async (first, second) => {
      const inputs = [inputOf(first), inputOf(second)];
      const request = { pair: [first, second] as [Comparison, Comparison], inputs, rounds: roundsOf(first, second) };
      const reply = (await pool.run(request)) as PairReply;
      return 'verdicts' in reply ? reply.verdicts : [isSame(first, reply.outputs[0]), isSame(second, reply.outputs[1])];
    },
    close: () => pool.close(),
  };
}

// Written when the first thread starts, and once for all of them: V8 compiles equal bytes once.
let code: Uint8Array | undefined;

function lanes() {
  code ??= eksBlowfish();
  return { code, inputs: LANES.map(inputAt), outputs: LANES.map(outputAt), outputBytes: OUTPUT_BYTES };
}
