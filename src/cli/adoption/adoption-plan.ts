import { text } from 'node:stream/consumers';
import { type HashAlgorithm, hashAlgorithms } from '../../hashing/importable-hash';
import { adoptedFields } from '../../users/user-fields';
import { fileNameOf } from '../../users/user-wire';
import { userStatus } from '../../users/user.entity';
import { emptyInput, openInput, standardInput } from '../input';

const plainColumns = [
  ...adoptedFields.flatMap((field) => (field === 'status' ? [] : fileNameOf(field))),
  ...(['password_hash', 'password_set_at'] as const),
];
type PlainColumn = (typeof plainColumns)[number];
export type AdoptedColumn = PlainColumn | 'status';

/** What `migrate --adopt FILE` reads (docs/spec/extensions.md#migrate). */
export interface AdoptionPlan {
  /** The parts of `schema.table` or `table`. */
  readonly source: readonly string[];
  /** The column of the source for each column of `users`. */
  readonly columns: ReadonlyMap<AdoptedColumn, string>;
  /** The status for each value of the source. Without it, the source has the values of this service. */
  readonly statuses?: ReadonlyMap<string, number>;
  /** Hashes of other algorithms are refused. */
  readonly algorithm?: HashAlgorithm;
}

/** The plan does not fit. The message is one line for the operator. */
export class AdoptionProblem extends Error {
  override readonly name = 'AdoptionProblem';
}

type Json = Readonly<Record<string, unknown>>;

/**
 * @param file a path, or `-` for standard input
 * @throws AdoptionProblem that names the file and the key
 */
export async function readAdoptionPlan(file: string): Promise<AdoptionPlan> {
  const fail = (problem: string): never => {
    throw new AdoptionProblem(`${file === standardInput ? 'standard input' : file}: ${problem}`);
  };
  let json: unknown;
  try {
    const content = await text(openInput(file));
    if (content === '' && file === standardInput) throw new AdoptionProblem(emptyInput);
    json = JSON.parse(content);
  } catch (error) {
    if (error instanceof AdoptionProblem) throw error;
    if (error instanceof SyntaxError) return fail('it is not JSON');
    return fail(`it cannot be read (${String((error as { code?: unknown }).code)})`);
  }
  return new PlanReader(fail).read(json);
}

class PlanReader {
  constructor(private readonly fail: (problem: string) => never) {}

  read(json: unknown): AdoptionPlan {
    const plan = this.object('', json, ['source', 'columns', 'hash']);
    const columns = this.object('columns', plan.columns, [...plainColumns, 'status']);
    const names = new Map<AdoptedColumn, string>();
    for (const key of plainColumns) {
      if (columns[key] !== undefined) names.set(key, this.identifier(`columns.${key}`, columns[key]));
    }
    if (!names.has('login_name')) this.fail('columns.login_name is missing');
    const { status, map } = this.status(columns.status);
    if (status !== undefined) names.set('status', status);
    return { source: this.source(plan.source), columns: names, statuses: map, algorithm: this.algorithm(plan, names) };
  }

  private source(value: unknown): string[] {
    const parts = typeof value === 'string' ? value.split('.') : [];
    if (parts.length < 1 || parts.length > 2) return this.fail('source must be "schema.table" or "table"');
    return parts.map((part) => this.identifier('source', part));
  }

  /** Names are quoted in the statements. The letters are limited too, so that no name can end its quotes. */
  private identifier(key: string, value: unknown): string {
    if (typeof value === 'string' && /^[\p{L}\p{N}_$#-]([\p{L}\p{N}_$# -]{0,62}[\p{L}\p{N}_$#-])?$/u.test(value)) {
      return value;
    }
    return this.fail(`${key} must be a name of 1 to 64 letters, digits, spaces and the characters _ $ # -`);
  }

  private status(value: unknown): { status?: string; map?: ReadonlyMap<string, number> } {
    if (value === undefined) return {};
    if (typeof value === 'string') return { status: this.identifier('columns.status', value) };
    const { column, map } = this.object('columns.status', value, ['column', 'map']);
    const status = this.identifier('columns.status.column', column);
    if (map === undefined) return { status };
    const allowed: readonly unknown[] = Object.values(userStatus);
    const entries = Object.entries(this.object('columns.status.map', map));
    for (const [from, to] of entries) {
      if (!allowed.includes(to)) this.fail(`columns.status.map.${printed(from)} must be 1, 0, -1 or -2`);
    }
    return { status, map: new Map(entries as [string, number][]) };
  }

  private algorithm({ hash }: Json, names: ReadonlyMap<AdoptedColumn, string>): HashAlgorithm | undefined {
    if (hash === undefined) return undefined;
    const { algorithm } = this.object('hash', hash, ['algorithm']);
    const known = hashAlgorithms.find((name) => name === algorithm);
    if (known === undefined) return this.fail(`hash.algorithm must be one of ${hashAlgorithms.join(', ')}`);
    if (!names.has('password_hash')) return this.fail('hash is given without columns.password_hash');
    return known;
  }

  /** @param keys the allowed ones. Default: any */
  private object(key: string, value: unknown, keys?: readonly string[]): Json {
    if (value === undefined) return this.fail(`${key} is missing`);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return this.fail(key === '' ? 'it must be a JSON object' : `${key} must be an object`);
    }
    const unknown = Object.keys(value).find((name) => keys !== undefined && !keys.includes(name));
    if (unknown === undefined) return value as Json;
    const path = key === '' ? unknown : `${key}.${unknown}`;
    return this.fail(`unknown key ${printed(path)}; the keys are ${(keys ?? []).join(', ')}`);
  }
}

const printed = (text: string) => JSON.stringify(text.slice(0, 100));
