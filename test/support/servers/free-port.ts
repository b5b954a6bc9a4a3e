import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the range from which the kernels hand out ports of outgoing connections, so that none of those takes
// the port between the moment it was found free and the moment its server listens.
const LOWEST = 15_000;
const HIGHEST = 32_000;
const ATTEMPTS = 50;

/** A TCP port of 127.0.0.1 that nothing listens on. Drawn at random, so that two test workers rarely try the same. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await canListen(port)) return port;
  }
  throw new Error(`no free port found in ${ATTEMPTS} attempts`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
