import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { print } from './cli-context';
import { addResealCommand } from './reseal-command';

export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('secrets');
  addGenerateCommand(keys);
  addResealCommand(keys);
}

/** `keys generate`: new secrets as lines of an environment file. It needs no settings and no database. */
function addGenerateCommand(keys: Command): void {
  keys
    .command('generate')
    .description('print a new JWT_SECRET, DATA_ENCRYPTION_KEY and JWT_PRIVATE_KEY')
    .option('--json')
    .action(({ json }: { json?: boolean }) => {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const fresh = {
        JWT_SECRET: randomBytes(48).toString('base64url'),
        DATA_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
        JWT_PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim().replaceAll('\n', '\\n'),
      };
      if (json) print(JSON.stringify(fresh));
      else for (const [key, value] of Object.entries(fresh)) print(`${key}=${value}`);
    });
}
