import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The megabytes that this process uses after a garbage collection. */
export function heapMb(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}
