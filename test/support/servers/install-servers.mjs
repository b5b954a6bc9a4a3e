// This file is plain JavaScript, because `npm test` runs it before the build.
import { existsSync, rmSync, writeFileSync } from 'node:fs';

import { dockerAnswers, findProgram, planFor, SERVER_PROGRAMS } from './server-programs.mjs';

const POLICY = '/usr/sbin/policy-rc.d';

/**
 * Makes sure that the programs are available, on this machine or as containers.
 * @param run runs one command, waits for its end, and throws if it fails
 * @throws Error with a list of the missing programs, if they can neither be installed nor run as containers
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
      say(`Not installed, running as containers: ${plan.missing.join(', ')}`);
      // Pulled before the tests, because a test that waits for a download reaches its time-out.
      for (const image of new Set(plan.missing.map((name) => SERVER_PROGRAMS[name].image))) {
        await run('docker', ['pull', '--quiet', image]);
      }
      return;
    default:
      assertComplete(plan.missing);
  }
}

/** Installs Debian packages without starting their services, because the tests start private servers instead. */
export async function installPackages(packages, run, policy = POLICY) {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const options = ['-q', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Dpkg::Use-Pty=0'];
  // An existing policy file belongs to the administrator and stays. Container images bring one that forbids starts.
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
      'The tests use real servers, and these programs are missing:',
      ...lines,
      'Install them, or run the tests as root on Debian, which installs them,',
      'or start a Docker engine, which replaces the servers but samba, galera, rsync, haproxy and chromium,',
      'or run the tests that do not need them, for example: npm test -- --only unit,spec-sqlite',
    ].join('\n'),
  );
}
