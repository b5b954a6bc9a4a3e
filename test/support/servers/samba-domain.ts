import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { eventually } from './eventually';
import { removeDirectory } from './private-directory';
import { runCommand } from './run-command';

/** Names and passwords of the domain that each controller of the tests serves. */
export const DOMAIN = {
  realm: 'EXAMPLE.TEST',
  baseDn: 'DC=example,DC=test',
  /** The account with which the tests change entries. */
  keeper: { name: 'administrator@example.test', password: 'Keeper-password-1' },
  /** The account of the service. It has no rights but those of every user of the domain. */
  service: { name: 'svc-portal', dn: 'CN=svc-portal,OU=Services,DC=example,DC=test', password: 'Service-password-1' },
  /** The domain locks an account at this number of wrong passwords. */
  lockoutThreshold: 5,
} as const;

/** The interpreter of samba-tool. Another `python3` in PATH may not have the modules of Samba. */
const PYTHON = '/usr/bin/python3';

/** Fills a directory with the files of a new domain. Creating one takes seconds, so the tests of a run copy the first. */
export async function newDomain(directory: string): Promise<void> {
  // `npm test` sets the directory of the run and deletes it. Without it nobody would delete the shared files.
  const run = process.env.TEST_RUN_DIRECTORY;
  if (run === undefined) await provision(directory);
  else await copyDomain(await provisionedOnce(join(run, 'samba-domain')), directory);
}

/** Copies the files of a domain. Sockets and process ids stay behind. */
export async function copyDomain(from: string, to: string): Promise<void> {
  for (const folder of ['private', 'state']) {
    const filter = async (source: string): Promise<boolean> => {
      const found = await lstat(source);
      return found.isFile() || found.isDirectory();
    };
    await cp(join(from, folder), join(to, folder), { recursive: true, filter });
  }
}

/** Writes the settings of a controller, and creates the folders that it needs. Returns the path of the file. */
export async function writeSettings(directory: string, more: Record<string, string> = {}): Promise<string> {
  const folders = { private: 'private', state: 'state', cache: 'cache', lock: 'lock', pid: 'pid', ncalrpc: 'ncalrpc' };
  for (const folder of Object.values(folders)) await mkdir(join(directory, folder), { recursive: true, mode: 0o700 });
  const settings = {
    realm: DOMAIN.realm,
    workgroup: 'EXAMPLE',
    'netbios name': 'DC1',
    'server role': 'active directory domain controller',
    // Only LDAP: no file shares, no Kerberos, no name server.
    'server services': 'ldap',
    'private dir': join(directory, folders.private),
    'state directory': join(directory, folders.state),
    'cache directory': join(directory, folders.cache),
    'lock directory': join(directory, folders.lock),
    'pid directory': join(directory, folders.pid),
    'ncalrpc dir': join(directory, folders.ncalrpc),
    'binddns dir': join(directory, 'bind-dns'),
    'log file': join(directory, 'samba.log'),
    ...more,
  };
  const file = join(directory, 'smb.conf');
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}`);
  const shares = ['sysvol', 'netlogon'].map((share) => `[${share}]\npath = ${join(directory, folders.state, share)}`);
  await writeFile(file, ['[global]', ...lines, ...shares, ''].join('\n'));
  return file;
}

/** Sets the time at which the password was set. LDAP does not allow this, so it is written to the files beside Samba. */
export async function setPasswordTime(settingsFile: string, dn: string, fileTime: string): Promise<void> {
  await runCommand(PYTHON, ['-', settingsFile, dn, fileTime], SET_PASSWORD_TIME);
}

async function provision(directory: string): Promise<void> {
  await runCommand(PYTHON, ['-', await writeSettings(directory)], PROVISION);
}

/** The first caller of a run creates the domain. Callers in other workers wait until it is complete. */
async function provisionedOnce(domain: string): Promise<string> {
  const unfinished = `${domain}.unfinished`;
  while (!existsSync(domain)) {
    if (await wasCreated(unfinished)) {
      try {
        await provision(unfinished);
        await rename(unfinished, domain);
      } catch (error) {
        await removeDirectory(unfinished);
        throw error;
      }
    } else {
      const settled = () => existsSync(domain) || !existsSync(unfinished);
      await eventually(settled, { what: 'another worker creates the Samba domain', timeout: 500_000 });
    }
  }
  return domain;
}

async function wasCreated(directory: string): Promise<boolean> {
  return mkdir(directory).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      return false;
    },
  );
}

/**
 * `samba-tool domain provision` always sets the access rules of sysvol, which needs privileges that a container does not
 * have. The function below it skips them unless asked, and needs no privilege at all.
 */
const PROVISION = `
import logging, sys
from samba.auth import system_session
from samba.dsdb import DS_DOMAIN_FUNCTION_2008_R2
from samba.param import LoadParm
from samba.provision import FILL_FULL, provision

lp = LoadParm()
lp.load(sys.argv[1])
domain = provision(
    logging.getLogger(), system_session(), smbconf=sys.argv[1], lp=lp, realm='${DOMAIN.realm}', domain='EXAMPLE',
    hostname='dc1', hostip='127.0.0.1', adminpass='${DOMAIN.keeper.password}', dns_backend='NONE',
    serverrole='active directory domain controller', samdb_fill=FILL_FULL,
    dom_for_fun_level=DS_DOMAIN_FUNCTION_2008_R2)
domain.samdb.modify_ldif('''
dn: ${DOMAIN.baseDn}
changetype: modify
replace: lockoutThreshold
lockoutThreshold: ${DOMAIN.lockoutThreshold}
''')
for unit in ['Staff', 'Elsewhere', 'Services', 'Groups']:
    domain.samdb.create_ou('OU=%s,${DOMAIN.baseDn}' % unit)
domain.samdb.newuser('${DOMAIN.service.name}', '${DOMAIN.service.password}', userou='OU=Services')
`;

const SET_PASSWORD_TIME = `
import sys
from ldb import Dn, FLAG_MOD_REPLACE, Message, MessageElement
from samba.auth import system_session
from samba.dsdb import DSDB_CONTROL_BYPASS_PASSWORD_HASH_OID
from samba.param import LoadParm
from samba.samdb import SamDB

lp = LoadParm()
lp.load(sys.argv[1])
samdb = SamDB(session_info=system_session(), lp=lp)
change = Message(Dn(samdb, sys.argv[2]))
change['pwdLastSet'] = MessageElement(sys.argv[3], FLAG_MOD_REPLACE, 'pwdLastSet')
samdb.modify(change, ['local_oid:%s:0' % DSDB_CONTROL_BYPASS_PASSWORD_HASH_OID])
`;
