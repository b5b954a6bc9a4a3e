import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { getMetadataArgsStorage } from 'typeorm';
import ts from 'typescript';

const src = resolve(__dirname, '../../src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'),
);

/** The columns of each table, from the decorators of the entities. */
async function columnsOfEntities(): Promise<Map<string, Set<string>>> {
  for (const file of files.filter((one) => one.endsWith('.entity.ts'))) await import(join(src, file));
  const { tables, columns } = getMetadataArgsStorage();
  return new Map(
    tables.map(({ target, name }) => [
      String(name),
      new Set(columns.filter((one) => one.target === target).map((one) => one.options.name ?? one.propertyName)),
    ]),
  );
}

interface Statement {
  readonly at: string;
  readonly text: string;
}

const begins = /^\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\s/;
/** Marks an expression of the code inside a statement. */
const hole = '\0';

/** The statements of plain SQL in the code. Parts in `${…}` are left out. */
function statements(file: string): Statement[] {
  const source = ts.createSourceFile(file, readFileSync(join(src, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Statement[] = [];
  const visit = (node: ts.Node): void => {
    const text = ts.isTemplateExpression(node)
      ? [node.head.text, ...node.templateSpans.map(({ literal }) => hole + literal.text)].join('')
      : ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)
        ? node.text
        : '';
    const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    if (begins.test(text)) found.push({ at: `${file}:${line}`, text });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Statements about the schema and the server, whose tables are not of this service. */
const aboutTheServer = /information_schema|sqlite_master|pragma_|@@|\bmigrations\b/i;

/** The words of a statement in lower case that are neither a column of its tables nor a name that it gives. */
function strangers({ text }: Statement, columns: Map<string, Set<string>>): string[] {
  const code = text.replace(/'[^']*'/g, ' ').replace(/`/g, '');
  if (aboutTheServer.test(code)) return [];
  const given = new Set([...code.matchAll(/(?:\bAS|\)) ([a-z]\w*)/g)].map((match) => match[1]!));
  const sources = [
    ...code.matchAll(new RegExp(`\\b(?:FROM|JOIN|INTO|UPDATE) (${hole}|[a-z_]+)(?: ([a-z]\\w*)\\b)?`, 'g')),
  ];
  // A table that is an expression of the code may have any column of any table.
  const everything = new Set([...columns.values()].flatMap((table) => [...table]));
  const tables = new Map<string, Set<string>>();
  for (const [, table = '', alias = table] of sources) {
    const known = table === hole ? everything : (columns.get(table) ?? new Set<string>());
    for (const name of [table, alias]) tables.set(name, new Set([...(tables.get(name) ?? []), ...known]));
  }
  return [...code.matchAll(/(?<![\w.])(?:([a-z]\w*)\.)?([a-z]\w*)\b(?!\.|\()/g)]
    .filter(([, alias, word = '']) => {
      if (alias !== undefined) return tables.has(alias) && tables.get(alias)?.has(word) !== true;
      return !tables.has(word) && !given.has(word) && ![...tables.values()].some((table) => table.has(word));
    })
    .map(([word]) => word);
}

describe('plain SQL', () => {
  let columns: Map<string, Set<string>>;
  beforeAll(async () => {
    columns = await columnsOfEntities();
  });
  const all = files.flatMap(statements);

  it('names columns that the entities have, and no others', () => {
    expect(all.length).toBeGreaterThan(40);
    const wrong = all.map((statement) => [statement.at, strangers(statement, columns)] as const);
    expect(wrong.filter(([, words]) => words.length > 0)).toEqual([]);
  });

  it.each([
    ['UPDATE users SET nickname = ?, nicknam_key = ? WHERE uid = ?', ['nicknam_key']],
    ['SELECT u.uid, u.emial AS email FROM users u WHERE u.status = 1', ['u.emial']],
    ["INSERT INTO users (uid, provider) VALUES (?, 'password')", []],
  ])('a misspelt column is found: %s', (text, words) => {
    expect(strangers({ at: '', text }, columns)).toEqual(words);
  });
});
