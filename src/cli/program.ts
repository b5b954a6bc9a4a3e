import { userInfo } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { isPlainText, plainTextRule } from '../shared/plain-text';
import { Operator } from '../audit/actor';

/** The root command. The other files of this folder add their commands to it. */
export const program = new Command('cli')
  .description('operate the authentication service')
  .option('--actor <name>', 'who runs this, for the audit (default: the system user)', actorName)
  .configureOutput({
    outputError: (text, write) => write(text.replace(/\n+(?=.)/g, ' ')),
    // For a group without a command, and for `help` with an unknown one, commander would print the whole help as an error.
    writeErr: (text) => process.stderr.write(text.startsWith('Usage: ') ? `error: ${missing()}, see --help\n` : text),
  })
  .showHelpAfterError(false);

function missing(): string {
  const help = program.args.indexOf('help');
  return help === -1 ? 'a command is missing' : `unknown command '${program.args[help + 1]}'`;
}

export function operator(): Operator {
  return new Operator(program.opts<{ actor?: string }>().actor ?? systemUser());
}

/** @param read returns the name of the system user, and throws if the user has no name */
export function systemUser(read = () => userInfo().username): string {
  try {
    return read();
  } catch {
    // The user of a container may have a number and no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

function actorName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > 255 || !isPlainText(name)) {
    throw new InvalidArgumentError(`must have 1 to 255 characters and ${plainTextRule}`);
  }
  return name;
}
