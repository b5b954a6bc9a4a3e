import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import type { Path, Report } from './installation-file';

const mostBytes = 4096;

/** Where the secrets of this service are. */
export interface OwnSecrets {
  readonly isSetting: (name: string) => boolean;
  readonly dataDir: string;
}

/**
 * Reads the secrets that a file names. A secret itself is refused, because the file is kept in git.
 * A reference to a secret of this service is refused as well: whoever may change the file could otherwise have the signing key sent to
 * an identity provider or a mail server of their own (docs/spec/attacks.md#t653).
 */
export class SecretReferences {
  /** @param file the file of the references, whose folder relative paths begin in; undefined for standard input */
  constructor(
    private readonly environment: Readonly<Record<string, string | undefined>>,
    private readonly file: string | undefined,
    private readonly service: OwnSecrets,
  ) {}

  /** Returns undefined after a problem was reported. */
  read(reference: string, at: Path, report: Report): string | undefined {
    const [, name] = /^\$\{ENV:([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(reference) ?? [];
    if (name !== undefined) return this.ofEnvironment(name, at, report);
    if (reference.startsWith('file:')) return this.ofFile(reference.slice('file:'.length), at, report);
    report(at, 'must be a reference such as ${ENV:NAME} or file:PATH, not the secret itself');
    return undefined;
  }

  /** The content of a file that is no secret. Returns undefined after a problem was reported. */
  readFile(given: string, mostBytes: number, at: Path, report: Report): Buffer | undefined {
    const path = resolve(this.file === undefined ? '.' : dirname(this.file), given);
    try {
      const real = realpathSync(path);
      if (this.isOwn(real)) {
        report(at, 'names a file of the settings of this service: choose another file');
        return undefined;
      }
      if (statSync(real).isFile() && statSync(real).size <= mostBytes) return readFileSync(real);
    } catch {
      // The sentence below is for it, too.
    }
    report(at, `names ${JSON.stringify(given)}, which is no file with at most ${mostBytes} bytes that can be read`);
    return undefined;
  }

  private ofEnvironment(name: string, at: Path, report: Report): string | undefined {
    if (this.isSetting(name)) {
      report(at, `names the setting ${name} of this service: choose another variable`);
      return undefined;
    }
    return plainSecret(this.environment[name] ?? '', `the variable ${name}`, at, report);
  }

  private ofFile(given: string, at: Path, report: Report): string | undefined {
    const text = this.readFile(given, mostBytes, at, report)?.toString('utf8');
    if (text === undefined) return undefined;
    return plainSecret(text.replace(/\r?\n$/, ''), `the file ${JSON.stringify(given)}`, at, report);
  }

  private isSetting(name: string): boolean {
    return this.service.isSetting(name.replace(/_FILE$/, ''));
  }

  private isOwn(real: string): boolean {
    const named = Object.entries(this.environment).flatMap(([name, file]) =>
      name.endsWith('_FILE') && file && this.isSetting(name) ? [realPath(file)] : [],
    );
    return named.includes(real) || real.startsWith(realPath(this.service.dataDir) + sep) || real.startsWith('/proc/');
  }
}

function plainSecret(text: string, what: string, at: Path, report: Report): string | undefined {
  if (text !== '' && text.length <= mostBytes && !/\p{Cc}/u.test(text)) return text;
  report(at, text === '' ? `needs ${what}, which is empty or not set` : `needs ${what} to hold one line of text`);
  return undefined;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
