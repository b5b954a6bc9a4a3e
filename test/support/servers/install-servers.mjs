// Plain JavaScript: `npm test` runs it before anything is built.
import { existsSync, rmSync, writeFileSync } from 'node:fs';

import { dockerAnswers, findProgram, planFor, SERVER_PROGRAMS } from './server-programs.mjs';

const POLICY = '/usr/sbin/policy-rc.d';

/**
 * Makes sure that the programs can be used, here or in containers. `run(command, args, env)` runs one command to its
 * end and throws when it fails. Throws with a list of what is missing when nothing can be done about it.
 */
export async function ensurePrograms(names, run, say) {
  const missing = missingOf(names);
  const canInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version');
  const plan = planFor(missing, { canInstall, hasDocker: missing.length > 0 && !canInstall && dockerAnswers() });
  switch (plan.kind) {
    case 'ready':
      return;
    case 'install':
      say(`Installing ${plan.packages.join(', ')}`);
      await installPackages(plan.packages, run);
      assertComplete(missingOf(names));
      return;
    case 'containers':
      say(`Not installed here and run as containers: ${plan.missing.join(', ')}`);
      // Now, because a test that waits for a download runs into its time limit.
      for (const image of new Set(plan.missing.map((name) => SERVER_PROGRAMS[name].image))) {
        await run('docker', ['pull', '--quiet', image]);
      }
      return;
    default:
      assertComplete(plan.missing);
  }
}

/** Installs Debian packages without starting the services they bring, whose ports and data are nobody's business here. */
export async function installPackages(packages, run, policy = POLICY) {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const options = ['-q', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Dpkg::Use-Pty=0'];
  // A policy that is there already is the administrator's; images for containers come with one that forbids starts.
  const ownPolicy = !existsSync(policy);
  if (ownPolicy) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await run('apt-get', [...options, 'update'], env);
    await run('apt-get', [...options, 'install', '-y', '--no-install-recommends', ...packages], env);
  } finally {
    if (ownPolicy) rmSync(policy, { force: true });
  }
}

function missingOf(names) {
  return names.filter((name) => findProgram(name) === null);
}

function assertComplete(missing) {
  if (missing.length === 0) return;
  const lines = missing.map((name) => `  ${name} (Debian package ${SERVER_PROGRAMS[name].debian})`);
  throw new Error(
    [
      'The tests talk to real servers, and these programs are missing:',
      ...lines,
      'Install them, run the tests as root on Debian, or start a Docker engine (for all but openssl and chromium).',
    ].join('\n'),
  );
}
