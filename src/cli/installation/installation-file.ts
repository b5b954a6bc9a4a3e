import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';

/** The way to a value in the file, for example `['applications', 0, 'name']`. */
export type Path = readonly (string | number)[];

/** What is wrong in the file, and where. The problem never repeats a value, because it may be a secret. */
export interface Fault {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly problem: string;
}

/** Notes one fault. The sentence follows the path: `applications[0].name is required`. */
export type Report = (at: Path, problem: string) => void;

export interface ReadFile {
  /** The members of the file. No object has a prototype. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly report: Report;
  /** All faults so far, in the order of the lines. */
  readonly faults: () => Fault[];
}

/** An installation of a thousand applications has about so many characters. */
const longest = 1_048_576;

export const textOfPath = (path: Path): string =>
  path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('');

/**
 * Reads YAML 1.2, of which JSON is a part. Anchors, tags and doubled keys are refused: what a reviewer reads is what is
 * applied, and no small file becomes a large value (docs/spec/attacks.md#t651).
 */
export function readInstallation(text: string): ReadFile {
  const lines = new LineCounter();
  const found: (Fault & { readonly offset: number })[] = [];
  const fault = (path: string, offset: number, problem: string): void => {
    const { line, col } = lines.linePos(offset);
    found.push({ path, line: Math.max(line, 1), column: Math.max(col, 1), problem, offset });
  };
  const faults = () =>
    found
      .sort((a, b) => a.offset - b.offset)
      .map(({ path, line, column, problem }) => ({ path, line, column, problem }));
  const nothing = { members: {}, report: () => undefined, faults };
  if (text.length > longest) {
    fault('', 0, `the file is larger than ${longest} characters`);
    return nothing;
  }

  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, schema: 'core', version: '1.2' });
  for (const { code, pos } of [...document.errors, ...document.warnings]) fault('', pos[0], sentenceOf(code));
  if (found.length > 0) return nothing;

  const plain = (node: unknown, path: Path): unknown => {
    if (node === null || isScalar(node)) return isScalar(node) ? node.value : null;
    const offset = (node as Node).range?.[0] ?? 0;
    if (isAlias(node)) fault(textOfPath(path), offset, 'is an alias: write the value in full');
    if (isSeq(node)) return node.items.map((item, i) => plain(item, [...path, i]));
    if (!isMap(node)) return null;
    const members = Object.create(null) as Record<string, unknown>;
    for (const { key, value } of node.items) {
      if (isScalar(key) && typeof key.value === 'string') members[key.value] = plain(value, [...path, key.value]);
      else fault(textOfPath(path), offset, 'has a key that is not a text');
    }
    return members;
  };
  const members = plain(document.contents, []);
  const report: Report = (at, problem) => {
    for (let known = at; ; known = known.slice(0, -1)) {
      const node = known.length === 0 ? document.contents : document.getIn(known, true);
      if (known.length > 0 && (node === undefined || node === null)) continue;
      fault(textOfPath(at), (node as Node | null)?.range?.[0] ?? 0, problem);
      return;
    }
  };
  if (typeof members !== 'object' || members === null || Array.isArray(members)) {
    fault('', 0, 'the file must have members such as tenants');
    return nothing;
  }
  return { members: members as Record<string, unknown>, report, faults };
}

/** The messages of the reader quote what they do not understand, which may be a secret. Its codes do not. */
const sentences: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'the key stands there twice',
  MISSING_CHAR: 'a quotation mark, comma or bracket is missing',
  TAB_AS_INDENT: 'a tab begins the line: use spaces',
  TAG_RESOLVE_FAILED: 'a tag is not allowed: write the plain value',
  BAD_INDENT: 'the line is not indented as the lines around it',
  MULTIPLE_DOCS: 'the file must be one document, without ---',
};
const sentenceOf = (code: string): string =>
  sentences[code] ?? `this is not valid YAML (${code.toLowerCase().replaceAll('_', ' ')})`;
