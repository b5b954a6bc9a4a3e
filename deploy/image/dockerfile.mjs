import { readFileSync } from 'node:fs';

/**
 * The stages of a Dockerfile, in order. An instruction is a pair of its name and its argument.
 * @returns {{ image: string, name?: string, steps: [string, string][] }[]}
 */
export function stagesOf(file) {
  const text = readFileSync(file, 'utf8').replace(/^\s*#.*\n/gm, '');
  return text
    .replace(/\\\n/g, ' ')
    .split(/^FROM /m)
    .slice(1)
    .map((stage) => {
      const [, image, name] = /^(\S+)(?: AS (\S+))?/.exec(stage);
      const steps = [...stage.matchAll(/^([A-Z]+) (.*)$/gm)].map(([, step, argument]) => [step, argument.trim()]);
      return { image, name, steps };
    });
}

/** Reads the major version of Node and the Debian release from an image name such as `node:24-bookworm-slim`. */
export function releaseOf(image) {
  const [, node, debian] = /^node:(\d+)-([a-z]+)-slim$/.exec(image) ?? [];
  if (debian === undefined) throw new Error(`a base image that this script does not know: ${image}`);
  return { node: Number(node), debian };
}

/** `COPY [--from=stage] source… target`. */
export function readCopy(argument) {
  const [, from, rest] = /^(?:--from=(\S+) )?(.*)$/.exec(argument);
  const names = rest.split(/\s+/);
  return { from, sources: names.slice(0, -1), target: names.at(-1) };
}

/** `KEY=value KEY=value`, without quotes. */
export function readEnv(argument) {
  return Object.fromEntries(argument.split(/\s+/).map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
}

/** The command of `CMD ["…"]` or `HEALTHCHECK … CMD ["…"]`. Both run without a shell. */
export const readCommand = (argument) => JSON.parse(/\[.*\]$/.exec(argument)[0]);

/** The last instruction of this name. */
export const last = (steps, name) => steps.findLast(([step]) => step === name)[1];
