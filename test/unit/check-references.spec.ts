import { checkReferences, type Rule } from '../../scripts/references.mjs';
import { runScript } from '../support/run-script';

/** The other files of a small repository, to which the checked file is added. */
const around = {
  'docs/spec/service.md': '# Service\n\n## <a id="4"></a>4. Endpoints\n\n### <a id="4.11"></a>4.11 POST /x\n',
  'docs/spec/decisions.md': '## <a id="3"></a>3. Second factor\n',
  'docs/spec/attacks.md': '### <a id="w21"></a>W21: long\n\n- <a id="t129"></a>**T129** [C] a case of [W21](#w21)\n',
  'docs/adr/0010-ldap.md': '# 0010 LDAP\n\n## What is said\n\n## What is said\n',
  'src/shared/clock.ts': 'export class Clock {}\n',
};

/** Returns the findings for one file in that repository. */
const judge = (file: string, text: string) => checkReferences(new Map([...Object.entries(around), [file, text]]));
const rulesIn = (file: string, text: string): Rule[] => judge(file, text).map(({ rule }) => rule);

describe('check:references', () => {
  it('reports the file and line of each finding, and the text to write instead', () => {
    expect(judge('src/a.ts', 'const a = 1;\n\n/** Cut by bcrypt (W21). */\n')).toEqual([
      {
        file: 'src/a.ts',
        line: 3,
        rule: 'weak spot',
        message: 'W21 stands alone: write docs/spec/attacks.md#w21',
      },
    ]);
  });

  it.each<[string, string, string]>([
    ['the path of a section', 'src/a.ts', '/** See docs/spec/service.md#4.11. */'],
    ['the path of a weak spot and of a test', 'src/a.ts', '// docs/spec/attacks.md#w21, docs/spec/attacks.md#t129'],
    ['the path of a page', 'src/a.ts', "read('docs/spec/service.md');"],
    ['an RFC and its section', 'src/a.ts', '// RFC 6238 §5.2; (RFC 9700 §2.2.2, §4.14.2); RFC 6238, section 5.2'],
    [
      'an RFC at the end of the line before',
      'src/a.ts',
      '/**\n * Once only (RFC\n * 6238 §5.2, RFC 9700 §2.2.2,\n * §4.14.2).\n */',
    ],
    ['a section of an RFC', 'src/a.ts', '// §5.2 of RFC 6238, section 5.2 of RFC 6238'],
    ['another standard', 'src/a.ts', '// W3C Trace Context §3.2; OWASP ASVS 6.5.1; W3C, WebAssembly 2.0, section 5'],
    ['a decision record', 'src/a.ts', '/** As ADR 0010 says. */'],
    ['a link to a page, a heading and a folder', 'docs/a.md', '[a](spec/service.md#4) [b](adr/0010-ldap.md) [c](adr/)'],
    ['an anchor that GitHub makes of a heading', 'docs/a.md', '[a](adr/0010-ldap.md#0010-ldap)'],
    ['the second of two headings', 'docs/a.md', '[a](adr/0010-ldap.md#what-is-said-1)'],
    ['an anchor of the same page', 'docs/a.md', '## Run `it`\n\n[a](#run-it)'],
    [
      'a mark that a link shows, also over two lines',
      'docs/a.md',
      '[W21](spec/attacks.md#w21) [section\n3](spec/decisions.md#3)',
    ],
    ['a link elsewhere', 'docs/a.md', '[a](https://example.com/x.md#y) [b](mailto:a@example.com)'],
    ['a link in code', 'docs/a.md', '`[a](b.md)`\n\n```\n[a](b.md)\n```\n'],
    ['a page of another site', 'src/a.ts', '// https://example.com/docs/none.md#x'],
    ['the name of a page inside the specification', 'docs/spec/a.md', '`decisions.md` wins. A rule follows.'],
    ['a test number in a title', 'test/a.ts', "it('T129 stays disabled (T129)', () => undefined);"],
    ['a test number in a table of titles', 'src/a.spec.ts', "['T129 https://example.com', 1],"],
    ['a test number on the map', 'docs/spec-map.md', '| T129 | src | test |'],
    ['a title with its marks on the page about coverage', 'docs/security/coverage.md', '"T129 long (W21)"'],
    ['an import of the module shared', 'src/users/a.ts', "import { Clock } from '../shared/clock';"],
    ['an import of a folder', 'src/users/a.ts', "import '../shared';"],
    ['types, names and weeks', 'src/a.ts', 'type A<T1, T12> = W3C; // 2026-W21, T0, XT129, W2, 10T129'],
    ['base64 and hexadecimal', 'src/a.ts', `'${'ab/W21+'.repeat(10)}/T129/${'0f'.repeat(40)}'`],
    ['what is made by a program', 'package-lock.json', 'W21 §4.1'],
    ['the document of the endpoints', 'openapi.json', '{"summary": "§4.1"}'],
    ['what is no text', 'docs/a.bin', '\0 W21'],
  ])('%s is good', (_name, file, text) => expect(judge(file, text)).toEqual([]));

  it.each<[string, Rule, string, string]>([
    ['an anchor that a page does not have', 'link', 'src/a.ts', '// docs/spec/service.md#4.12'],
    ['a page that does not exist', 'link', 'src/a.ts', '// docs/spec/other.md'],
    ['a number that the attacks do not have', 'link', 'src/a.ts', '// docs/spec/attacks.md#w58'],
    ['a link without a file', 'link', 'docs/a.md', '[a](spec/other.md)'],
    ['a link without a heading', 'link', 'docs/a.md', '[a](spec/service.md#4.12)'],
    ['an anchor that the page itself does not have', 'link', 'docs/a.md', '[a](#b)'],
    ['a link that leads out of the repository', 'link', 'docs/a.md', '[a](../../b.md)'],
    ['a decision record that does not exist', 'link', 'src/a.ts', '// ADR 0099'],
    ['the second of two decision records', 'link', 'src/a.ts', '// ADRs 0010 and 0099'],
    ['a weak spot in a comment', 'weak spot', 'src/a.ts', '// closed (W21)'],
    ['a weak spot in a page', 'weak spot', 'docs/a.md', 'It closes W21.'],
    ['an unknown weak spot in a test title', 'weak spot', 'test/a.ts', "it('W99 long', () => undefined);"],
    ['a weak spot that the attacks do not have', 'weak spot', 'docs/spec/attacks.md', '**W58**'],
    ['a test number in a comment', 'test number', 'src/a.ts', '/** Stays disabled (T129). */'],
    ['a test number in a message', 'test number', 'src/a.ts', "throw new Error('T129');"],
    ['a test number in a page', 'test number', 'docs/a.md', 'T129 shows it.'],
    ['a test number in the comment of a test', 'test number', 'test/a.ts', '/**\n * T129.\n */'],
    ['a test number in a comment behind a title', 'test number', 'src/a.spec.ts', "it('a // b', b); // it's T129"],
    ['a title with a number that the attacks do not have', 'test number', 'src/a.spec.ts', "it('T999 a', b);"],
    ['a number on the map that the attacks do not have', 'test number', 'docs/spec-map.md', 'T999'],
    [
      'a number on the page about coverage that the attacks do not have',
      'test number',
      'docs/security/coverage.md',
      'T999',
    ],
    ['a page and a number', 'page', 'src/a.ts', '// settled in decisions.md 3'],
    ['a page in code marks and a number', 'page', 'migrations/a.ts', '// what `decisions.md` 9 adds'],
    ['a page alone', 'page', 'src/a.ts', '// what `extensions.md` adds'],
    ['a page and a number inside the specification', 'page', 'docs/spec/a.md', 'See `decisions.md` 3.'],
    ['a page that is not in the repository', 'page', 'docs/spec/a.md', 'See `authentication-service.md`.'],
    ['a section without a document', 'section', 'src/a.ts', '// in the order of §4.1'],
    ['a section in a message', 'section', 'src/a.ts', "summary: 'Log in (§4.1)',"],
    ['a section in a test title', 'section', 'test/a.ts', "it('§4.9 answers', () => undefined);"],
    ['a section behind another sentence about an RFC', 'section', 'src/a.ts', '// As RFC 6238 says. The rest is §4.1.'],
    ['a section in words', 'section', 'docs/a.md', 'Section 4.2 takes a uid.'],
    ['several sections in words', 'section', 'docs/a.md', 'Concerns sections 1.2 and 4.8.'],
    ['a folder beside the repository', 'outside', 'docs/a.md', 'As `../shared/spec/a.md` says.'],
    ['the same from a folder in the depth', 'outside', 'src/users/a.ts', '// ../shared/design, ../../shared/'],
  ])('%s is a finding', (_name, rule, file, text) => expect(new Set(rulesIn(file, text))).toEqual(new Set([rule])));

  it.each([
    ['src/a.ts', '// decisions.md 3', 'decisions.md stands alone: write docs/spec/decisions.md#3'],
    ['src/a.ts', '// extensions.md G', 'extensions.md stands alone: write docs/spec/extensions.md#g'],
    ['src/a.ts', '// (§4.11).', '§4.11 names no document: write docs/spec/service.md#4.11, or the RFC'],
    ['src/a.ts', '// §4.12', '§4.12 names no document: write docs/spec/service.md#anchor, or the RFC'],
  ])('%s: %s gives its replacement', (file, text, message) => expect(judge(file, text)).toMatchObject([{ message }]));

  it('each wrong reference is a finding, in the order of the lines', () => {
    const found = judge('docs/a.md', 'W21, T129–T129\n\n§4.1 and §4.2\n').map(({ line, rule }) => [line, rule]);
    expect(found).toEqual([
      [1, 'weak spot'],
      [1, 'test number'],
      [1, 'test number'],
      [3, 'section'],
      [3, 'section'],
    ]);
  });

  it('ends with 0 when it finds nothing, else with 1 and the count of each rule', async () => {
    const { code, output } = await runScript('scripts/check-references.mjs');
    expect(output).toMatch(code === 0 ? /^every reference resolves\n$/ : /^(.+: \d+\n)+\d+ references to mend\n$/m);
  });
});
