import { randomInt } from 'node:crypto';

import { eventually } from './eventually';
import { canListen } from './free-port';
import { LocalHost } from './local-host';
import type { HostCommand } from './server-host';
import type { ProgramName } from './server-programs.mjs';

/** Samba listens on these ports and has no setting for others. */
const PORTS = [389, 636];

/** Gives a server started by root no privilege but that of listening on a port below 1024. */
export class UnprivilegedHost extends LocalHost {
  override serve(program: ProgramName, args: string[]): HostCommand {
    const own = super.serve(program, args);
    if (process.getuid?.() !== 0) return own;
    const less = ['--bounding-set=-all,+net_bind_service', '--no-new-privs'];
    return { command: 'setpriv', args: [...less, own.command, ...own.args] };
  }
}

/** An address of the loopback interface on which the ports of LDAP are free. Each worker of jest has its own network. */
export async function freeAddress(): Promise<string> {
  const network = 100 + (Number(process.env.JEST_WORKER_ID ?? 0) % 100);
  const attempt = async (): Promise<string | undefined> => {
    const address = `127.${network}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
    const free = await Promise.all(PORTS.map((port) => canListen(port, address)));
    return free.every(Boolean) ? address : undefined;
  };
  return eventually(attempt, { what: 'port 389 of a loopback address, which needs Linux and root', timeout: 2_000 });
}
