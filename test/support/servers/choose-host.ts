import { ContainerHost } from './container-host';
import { LocalHost } from './local-host';
import type { ServerHost } from './server-host';
import { dockerAnswers, findProgram, type ProgramName, SERVER_PROGRAMS } from './server-programs.mjs';

/** Set to `containers` to use containers although the programs are installed. */
const CHOICE = 'TEST_SERVERS';

/** `directory` is the server's private directory, `ports` all it listens on. */
export function hostFor(
  program: ProgramName,
  directory: string,
  ports: number[],
  network: 'published' | 'reaches-loopback' = 'published',
): ServerHost {
  if (findProgram(program) !== null && process.env[CHOICE] !== 'containers') return new LocalHost();
  const { image } = SERVER_PROGRAMS[program];
  if (image === null || !dockerAnswers()) {
    throw new Error(`${program} is not installed and no container engine answers: "npm test" says what to do`);
  }
  return new ContainerHost(image, directory, ports, network);
}
