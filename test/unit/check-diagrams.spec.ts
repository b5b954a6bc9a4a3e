import { checkDiagrams } from '../../scripts/diagrams.mjs';
import { runScript } from '../support/run-script';

const page = (...statements: string[]) => ['# Flow', '', '```mermaid', ...statements, '```', ''].join('\n');
const problemsOf = (...statements: string[]) =>
  checkDiagrams(page(...statements)).findings.map((found) => found.message);
const inDiagram = (...statements: string[]) =>
  problemsOf('sequenceDiagram', 'participant A', 'actor B as A person', ...statements);

describe('check:diagrams', () => {
  it('finds no mistake in the diagrams of this repository', async () => {
    const { code, output } = await runScript('scripts/check-diagrams.mjs');
    expect(output).toMatch(/^[1-9]\d* diagrams are valid\n$/);
    expect(code).toBe(0);
  });

  it('names the line of a mistake', () => {
    expect(checkDiagrams(page('sequenceDiagram', 'participant A', 'A->>A no colon'))).toEqual({
      count: 1,
      findings: [{ line: 6, message: expect.stringMatching(/^not a statement .*: A->>A no colon$/) as string }],
    });
  });

  it.each([
    ['messages with each arrow', ['A->B: a', 'A-->B: a', 'A->>B: a: b', 'A-->>B: (a) "b"', 'A-xB: a', 'A--)B: a']],
    ['notes', ['Note left of A: a', 'Note right of B: b', 'Note over A: a', 'Note over A,B: b']],
    ['nested blocks', ['alt a', 'A->>B: a', 'else', 'opt b', 'B->>A: b', 'end', 'end']],
    ['parallel and critical blocks', ['par a', 'A->>B: a', 'and b', 'end', 'critical a', 'option b', 'end']],
    ['comments, empty lines, numbers', ['%% why', '', 'autonumber']],
  ])('accepts %s', (_, statements) => {
    expect(inDiagram(...statements)).toEqual([]);
  });

  it.each([
    ['a misspelt arrow', ['A=>>B: a'], 'not a statement'],
    ['a message without a text', ['A->>B'], 'not a statement'],
    ['a semicolon, which ends a statement', ['A->>B: a; b'], 'not a statement'],
    ['a participant that is not declared', ['A->>C: a'], '"C" is not declared'],
    ['a note over a participant that is not declared', ['Note over C: a'], '"C" is not declared'],
    ['a block without an end', ['alt a', 'A->>B: a'], '"alt" has no "end"'],
    ['an end without a block', ['end'], '"end" without a block'],
    ['an else outside alt', ['opt a', 'else b', 'end'], '"else" outside "alt"'],
    ['a participant named like a keyword', ['participant end'], 'this name is a word of Mermaid'],
  ])('refuses %s', (_, statements, problem) => {
    expect(inDiagram(...statements)).toEqual([expect.stringContaining(problem)]);
  });

  it('accepts a flowchart with nodes of each shape, groups, and arrows before and after their nodes', () => {
    const statements = ['a --> b', 'subgraph g [Group, 1]', 'a[Box]', 'end', 'b([Person])', 'c[(Store: x)]', '%% why'];
    expect(problemsOf('flowchart LR', ...statements, 'b -->|text, more| c')).toEqual([]);
  });

  it.each([
    ['an arrow to a node that is not declared', ['a --> c'], '"c" is not declared'],
    ['a misspelt arrow', ['a -> b'], 'not a statement of a flowchart'],
    ['a bracket in a text', ['c[one (two)]'], 'not a statement of a flowchart'],
    ['a text of an arrow that does not end', ['a -->|text b'], 'not a statement of a flowchart'],
    ['a group without an end', ['subgraph g'], '"subgraph" has no "end"'],
    ['an end without a group', ['end'], '"end" without a block'],
    ['a node named like a keyword', ['end[Box]'], 'this name is a word of Mermaid'],
    ['a message of the other kind of diagram', ['a->>b: text'], 'not a statement of a flowchart'],
  ])('refuses in a flowchart: %s', (_, statements, problem) => {
    expect(problemsOf('flowchart LR', 'a[A]', 'b[B]', ...statements)).toEqual([expect.stringContaining(problem)]);
  });

  it('names the line of an arrow to a node that is not declared', () => {
    expect(checkDiagrams(page('flowchart TB', 'a --> b', 'a[A]')).findings).toEqual([
      { line: 5, message: '"b" is not declared: a --> b' },
    ]);
  });

  it('refuses an empty diagram, one of another type, and one that never ends', () => {
    expect(problemsOf()).toEqual([expect.stringContaining('the diagram is empty')]);
    expect(problemsOf('gantt', 'title A')).toEqual([expect.stringContaining('only "sequenceDiagram" and "flowchart"')]);
    expect(checkDiagrams('```mermaid\nsequenceDiagram\n').findings).toHaveLength(1);
  });

  it('reads no other block of code', () => {
    expect(checkDiagrams('```sh\nsequenceDiagram\n```\n')).toEqual({ count: 0, findings: [] });
  });
});
