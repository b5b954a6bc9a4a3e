import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// The range lies below the ports that kernels use for outgoing connections. Otherwise such a connection could take a
// port after it was found free and before its server listens.
const LOWEST = 15_000;
const PORTS_OF_A_WORKER = 2_000;
const WORKERS = 8;
const ATTEMPTS = 50;

/** Ports that this test file was given already. Their servers may not listen yet, or may be stopped for a moment. */
const given = new Set<number>();

/**
 * A free TCP port of 127.0.0.1. Each test worker of jest has its own part of the range, and gets no port twice. So no
 * other worker of the run can take a port between the check here and the start of its server. The choice is random, so
 * two runs on one machine rarely choose the same port.
 */
export async function freePort(): Promise<number> {
  const first = LOWEST + (Number(process.env.JEST_WORKER_ID ?? 0) % WORKERS) * PORTS_OF_A_WORKER;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(first, first + PORTS_OF_A_WORKER);
    if (given.has(port) || !(await canListen(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no free port found in ${ATTEMPTS} attempts`);
}

/** Whether this process can listen on the port now. */
export function canListen(port: number, address = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, address, () => probe.close(() => resolve(true)));
  });
}
