import { ContainerHost } from './container-host';
import { LocalHost } from './local-host';
import type { ServerHost } from './server-host';
import { dockerAnswers, findProgram, type ProgramName, SERVER_PROGRAMS } from './server-programs.mjs';

/** Environment variable. Its value `containers` selects containers even if the programs are installed. */
const CHOICE = 'TEST_SERVERS';

/**
 * @param directory private directory of the server
 * @param ports all ports on which the server listens
 */
export function hostFor(
  program: ProgramName,
  directory: string,
  ports: number[],
  network: 'published' | 'reaches-loopback' = 'published',
): ServerHost {
  const { image } = SERVER_PROGRAMS[program];
  const asContainer = process.env[CHOICE] === 'containers' && image !== null;
  if (findProgram(program) !== null && !asContainer) return new LocalHost();
  if (image === null || !dockerAnswers()) {
    throw new Error(
      `${program} is not installed and no container engine answers: run "npm test", which installs it or says how`,
    );
  }
  return new ContainerHost(image, directory, ports, network);
}
