import { Argument, Command, type Option } from 'commander';
import { addAllCommands } from '../../../src/cli/all-commands';
import { program } from '../../../src/cli/program';
import type { Recorded } from './broken-promises';

/** Every command by its words, with its arguments and options. `needs`: what a call must give. */
export function commandLine(): Recorded {
  if (program.commands.length === 0) addAllCommands(program);
  return { 'every command': options(program), ...Object.fromEntries(below(program, '')) };
}

function below(parent: Command, words: string): [string, Recorded][] {
  return parent.commands.flatMap((command) => {
    const name = `${words} ${command.name()}`.trim();
    const inner = below(command, name);
    return inner.length > 0 ? inner : [[name, recordOf(command)] as [string, Recorded]];
  });
}

function recordOf(command: Command): Recorded {
  const taken = command.registeredArguments;
  return {
    ...options(command),
    arguments: Object.fromEntries(taken.map((argument, i) => [`${i + 1}`, argument.variadic ? 'many' : 'one'])),
    needs: [
      ...taken.flatMap((argument: Argument, i) => (argument.required ? [`argument ${i + 1}`] : [])),
      ...command.options.filter(({ mandatory }) => mandatory).map(nameOf),
    ],
  };
}

function options(command: Command): { readonly options: Recorded } {
  return {
    options: Object.fromEntries(
      command.options.map((option) => [
        nameOf(option),
        { value: option.required ? 'a value' : option.optional ? 'perhaps a value' : 'none', ...standard(option) },
      ]),
    ),
  };
}

const nameOf = ({ long, short }: Option): string => long ?? short ?? '';

function standard({ defaultValue }: Option): { readonly default?: string } {
  return defaultValue === undefined ? {} : { default: JSON.stringify(defaultValue) };
}
