import type { Command } from 'commander';
import { addAccountCommands } from './account-commands';
import { addApplicationCommands } from './application-commands';
import { addBulkCommands } from './bulk-commands';
import { addClientCommands } from './client-commands';
import { addConfigCommands } from './config-commands';
import { addDoctorCommand } from './doctor-command';
import { addEventCommands } from './event-commands';
import { addImportCommand } from './import-command';
import { addInviteCommand } from './invite-command';
import { addKeyCommands } from './key-commands';
import { addListCommand } from './list-command';
import { addLostPhoneCommands } from './lost-phone-commands';
import { addMailCommands } from './mail-commands';
import { addMigrateCommand } from './migrate-command';
import { addPurgeCommand } from './purge-command';
import { addRevokeCommand } from './revoke-command';
import { addSessionsCommand } from './sessions-command';
import { addTenantCommands } from './tenant-commands';
import { addUserCommands } from './user-commands';

/** Adds every command. The names, arguments and options of the commands are promised (docs/promise.md). */
export function addAllCommands(program: Command): void {
  addMigrateCommand(program);
  const user = addUserCommands(program);
  addListCommand(user);
  addImportCommand(user);
  addBulkCommands(user);
  addLostPhoneCommands(user);
  addInviteCommand(user);
  addAccountCommands(user);
  addSessionsCommand(user);
  addRevokeCommand(user);
  addTenantCommands(program);
  addConfigCommands(program);
  addClientCommands(program);
  addApplicationCommands(program);
  addMailCommands(program);
  addEventCommands(program);
  addKeyCommands(program);
  addPurgeCommand(program);
  addDoctorCommand(program);
}
