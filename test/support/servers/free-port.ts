import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// The range lies below the ports that kernels use for outgoing connections. Otherwise such a connection could take a
// port after it was found free and before its server listens.
const LOWEST = 15_000;
const HIGHEST = 32_000;
const ATTEMPTS = 50;

/** A free TCP port of 127.0.0.1. It is chosen at random, so that two test workers rarely choose the same port. */
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
