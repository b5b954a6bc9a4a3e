'use strict';

// Runs commands of the built command line one after the other in one process (command-line.ts). Each gets its own arguments,
// environment, directory and output, and an empty standard input. It has ended when nothing would keep its process alive any
// more, so one that leaves a connection open hangs here as well. What only the command line loads is evaluated again for
// each command. The code that it shares with the server, and the packages, stay loaded as they do in a server.
const { writeSync } = require('node:fs');
const { join, resolve, sep } = require('node:path');
const { Readable, Writable } = require('node:stream');

const compiled = resolve(__dirname, '../../dist/src');
const program = join(compiled, 'cli.js');
const ofTheCommandLine = (path) =>
  path === program ||
  (path.startsWith(join(compiled, 'bundle') + sep) && /^(service|packages)~cli\d*\.js$/.test(path.split(sep).pop()));

/** The command that runs now. */
let current;

// `console` keeps the streams that it has seen first. A command must not print with it, so these are those of the host.
void [console._stdout, console._stderr];

const leave = process.exit.bind(process);

/** Stops the code that called `process.exit`. Nothing that it prints later is seen. */
class Exit extends Error {}
process.exit = (code = process.exitCode) => {
  if (current !== undefined) current.exited ??= { code: code ?? 0 };
  throw new Exit();
};

process.on('uncaughtException', (error) => {
  if (error instanceof Exit || current === undefined || current.exited) return;
  // As in a process of its own, nothing of the command may run any more. `CommandLine` then makes a new host.
  writeSync(2, `${error?.stack ?? error}\n`);
  leave(1);
});

process.on('message', (message) => {
  if (message === 'stop') leave(0);
  const { args, env, cwd } = message;
  const command = { out: [], err: [], exited: undefined };
  current = command;
  // From now on only the command keeps this process alive.
  process.channel.unref();
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [process.execPath, program, ...args];
  process.exitCode = undefined;
  const collect = (chunks) =>
    new Writable({
      write(chunk, _encoding, done) {
        if (!command.exited) chunks.push(chunk);
        done();
      },
    });
  const streams = {
    stdin: Readable.from([], { objectMode: false }),
    stdout: collect(command.out),
    stderr: collect(command.err),
  };
  for (const [name, value] of Object.entries(streams)) {
    Object.defineProperty(process, name, { value, configurable: true, writable: true });
  }
  for (const path of Object.keys(require.cache)) if (ofTheCommandLine(path)) delete require.cache[path];
  require(program);
});

process.on('beforeExit', () => {
  if (current === undefined) return;
  const { out, err, exited } = current;
  const code = exited?.code ?? process.exitCode ?? 0;
  current = undefined;
  process.exitCode = undefined;
  // process-start.ts adds listeners for each command.
  for (const signal of ['SIGTERM', 'SIGINT']) process.removeAllListeners(signal);
  const fresh = Object.keys(require.cache).filter(ofTheCommandLine).length;
  process.channel.ref();
  process.send({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString(), fresh });
});

// The process of the test was killed.
process.on('disconnect', () => leave(0));
