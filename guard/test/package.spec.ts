import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const guard = resolve(__dirname, '..');

type Dependencies = Readonly<Record<string, string>>;

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly dependencies: Dependencies;
    readonly devDependencies: Dependencies;
  };

/** `npm run check:packages` checks the rest from the tarball. */
describe('the package @portal-auth/guard', () => {
  // A compiler takes long on a busy machine.
  jest.setTimeout(120_000);

  it('a right that only the service knows does not compile without its answer', () => {
    const folder = mkdtempSync(join(tmpdir(), 'consumer-'));
    try {
      const file = join(folder, 'consumer.ts');
      writeFileSync(
        file,
        `import { authOf } from '@portal-auth/guard';
         const auth = authOf({});
         export const known: boolean = auth.verified_by === 'introspection' ? auth.is_admin : false;
         export const unknown: boolean = auth.is_admin;`,
      );
      const program = ts.createProgram([file], {
        strict: true,
        noEmit: true,
        target: ts.ScriptTarget.ES2022,
        moduleResolution: ts.ModuleResolutionKind.Bundler,
        paths: { '@portal-auth/guard': [join(guard, 'dist/index.d.ts')] },
        types: ['node'],
        typeRoots: [resolve(guard, '../node_modules/@types')],
      });
      const problems = ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
      const texts = problems.map((text) => ts.flattenDiagnosticMessageText(text, '\n').split('\n')[0]);
      expect(texts).toEqual(["Type 'boolean | undefined' is not assignable to type 'boolean'."]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is tested with the jose that it asks for', () => {
    const service = manifestOf(resolve(guard, '..'));
    expect(manifestOf(guard).dependencies).toEqual({ jose: service.dependencies.jose });
  });
});
