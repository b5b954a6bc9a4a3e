import './process-start';
import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { addAllCommands } from './cli/all-commands';
import { CliProblem, problemOf } from './cli/cli-context';
import { program } from './cli/program';

// An import reads many rows, so the space for new objects may grow, and V8 optimises hot code (process-start.ts).
setFlagsFromString('--semi-space-growth-factor=2');
setFlagsFromString('--turbofan');

// A reader that closes the pipe (`| head`) is not an error of the command. The rest of the output is discarded.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

addAllCommands(program);

void program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`${problemOf(error)}\n`);
  process.exitCode = error instanceof CliProblem ? error.exitCode : 1;
});
