import './process-start';
import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { addAccountCommands } from './cli/account-commands';
import { CliProblem, problemOf } from './cli/cli-context';
import { addClientCommands } from './cli/client-commands';
import { addConfigCommands } from './cli/config-commands';
import { addDoctorCommand } from './cli/doctor-command';
import { addImportCommand } from './cli/import-command';
import { addInviteCommand } from './cli/invite-command';
import { addKeyCommands } from './cli/key-commands';
import { addListCommand } from './cli/list-command';
import { addLostPhoneCommands } from './cli/lost-phone-commands';
import { addMailCommands } from './cli/mail-commands';
import { addMigrateCommand } from './cli/migrate-command';
import { program } from './cli/program';
import { addPurgeCommand } from './cli/purge-command';
import { addRevokeCommand } from './cli/revoke-command';
import { addSessionsCommand } from './cli/sessions-command';
import { addTenantCommands } from './cli/tenant-commands';
import { addUserCommands } from './cli/user-commands';

// An import reads many rows, so the space for new objects may grow (process-start.ts).
setFlagsFromString('--semi-space-growth-factor=2');

// A reader that closes the pipe (`| head`) is not an error of the command. The rest of the output is discarded.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

addMigrateCommand(program);
const user = addUserCommands(program);
addListCommand(user);
addImportCommand(user);
addLostPhoneCommands(user);
addInviteCommand(user);
addAccountCommands(user);
addSessionsCommand(user);
addRevokeCommand(user);
addTenantCommands(program);
addConfigCommands(program);
addClientCommands(program);
addMailCommands(program);
addKeyCommands(program);
addPurgeCommand(program);
addDoctorCommand(program);

void program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`${problemOf(error)}\n`);
  process.exitCode = error instanceof CliProblem ? error.exitCode : 1;
});
