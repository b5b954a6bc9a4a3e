import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';

import { runCommand } from './run-command';
import { findProgram } from './server-programs.mjs';

/** A certificate and its key, both as PEM files (for server programs) and as text (for servers in this process). */
export interface Certificate {
  certFile: string;
  keyFile: string;
  cert: string;
  key: string;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A private certificate authority. A client trusts it only if the client is given its file. */
export class CertificateAuthority {
  private constructor(
    private readonly directory: string,
    private readonly own: Certificate,
  ) {}

  /** Creates the authority in a folder below `parent`. The owner of `parent` deletes it. */
  static async create(parent: string, name = 'authority'): Promise<CertificateAuthority> {
    const directory = join(parent, name);
    await mkdir(directory, { recursive: true });
    const [certFile, keyFile] = [join(directory, 'ca.pem'), join(directory, 'ca-key.pem')];
    await openssl([
      ...['req', '-x509', ...NEW_KEY, '-days', '2', '-subj', `/CN=Test ${name}`],
      ...['-addext', 'keyUsage=critical,keyCertSign,cRLSign'],
      ...['-keyout', keyFile, '-out', certFile],
    ]);
    return new CertificateAuthority(directory, await read(certFile, keyFile));
  }

  /** Path of the authority's certificate (PEM), for clients. */
  get caFile(): string {
    return this.own.certFile;
  }

  /** The certificate of the authority as PEM text. */
  get ca(): string {
    return this.own.cert;
  }

  /** Issues a server certificate for host names and IP addresses. */
  async issue(names: string[] = ['127.0.0.1', 'localhost']): Promise<Certificate> {
    const base = join(this.directory, names.join('_'));
    const [certFile, keyFile, requestFile] = [`${base}.pem`, `${base}-key.pem`, `${base}.csr`];
    const alternatives = names.map((name) => `${isIP(name) ? 'IP' : 'DNS'}:${name}`).join(',');
    await openssl(['req', ...NEW_KEY, '-subj', `/CN=${names[0]}`, '-keyout', keyFile, '-out', requestFile]);
    await writeFile(
      `${base}.ext`,
      `subjectAltName=${alternatives}\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n`,
    );
    await openssl([
      ...['x509', '-req', '-in', requestFile, '-days', '2', '-extfile', `${base}.ext`],
      ...['-CA', this.own.certFile, '-CAkey', this.own.keyFile, '-CAcreateserial', '-out', certFile],
    ]);
    return read(certFile, keyFile);
  }
}

async function openssl(args: string[]): Promise<void> {
  await runCommand(findProgram('openssl') ?? 'openssl', args);
}

async function read(certFile: string, keyFile: string): Promise<Certificate> {
  return { certFile, keyFile, cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') };
}
