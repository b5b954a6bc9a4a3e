import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as ts from 'typescript';

const src = resolve(__dirname, '../../src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'),
);

/** Every place where the container of Nest would pass all settings: a constructor, or the `inject` of a provider. */
function injections(name: string, text: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const parameters = ts.isConstructorDeclaration(node) ? node.parameters.map(({ type }) => type) : [];
    const isInject = ts.isPropertyAssignment(node) && node.name.getText() === 'inject';
    const tokens = isInject && ts.isArrayLiteralExpression(node.initializer) ? node.initializer.elements : [];
    if ([...parameters, ...tokens].some((one) => /\bAppConfig\b/.test(one?.getText() ?? ''))) found.push(name);
    ts.forEachChild(node, visit);
  };
  if (text.includes('AppConfig')) visit(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true));
  return found;
}

describe('the settings of a class', () => {
  it('are the slices that it needs: no class and no provider injects AppConfig', () => {
    expect(files.length).toBeGreaterThan(300);
    expect(files.flatMap((name) => injections(name, readFileSync(resolve(src, name), 'utf8')))).toEqual([]);
  });

  it.each([
    ['a constructor', 'class A { constructor(private readonly config: AppConfig) {} }'],
    ['a constructor that takes a part of it', 'class A { constructor({ mfa }: Pick<AppConfig, "mfa">) {} }'],
    ['a provider', 'const a = { provide: A, inject: [Clock, AppConfig], useFactory: make };'],
  ])('this test sees %s', (_what, text) => {
    expect(injections('a.ts', text)).toEqual(['a.ts']);
  });
});
