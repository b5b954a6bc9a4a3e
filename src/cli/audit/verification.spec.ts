import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { LogRanges } from '../../audit/log-ranges';
import { auditLog } from '../../audit/log-tables';
import { hashOf } from './chain';
import { exportedText, formerOf } from './export';
import { Verification } from './verification';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');

/** A log with a row for each id. U+2028 is a line break for some readers of lines, and not for JSON. */
function logWith(ids: readonly number[], future: readonly number[] = []): LogRanges {
  const rows = ids.map((id) => ({
    id,
    createdAt: future.includes(id) ? new Date('2099-01-01T00:00:00Z') : new Date(1_772_445_600_000 + id),
    event: 'USER_CREATED',
    user_agent: 'a\u2028b',
  }));
  const fake: Pick<LogRanges, 'rows' | 'firstWithin' | 'endOf' | 'oldest' | 'count'> = {
    async *rows(_log, after) {
      const page = await Promise.resolve(rows.filter(({ id }) => id > after));
      if (page.length > 0) yield page;
    },
    firstWithin: () => Promise.resolve(rows[0]?.id),
    endOf: () => Promise.resolve(undefined),
    oldest: () => Promise.resolve(rows[0]),
    count: (_log, first, last) => Promise.resolve(ids.filter((id) => id >= first && id <= last).length),
  };
  return fake as LogRanges;
}

async function* bytes(...texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

interface Made {
  readonly ids: readonly number[];
  readonly key?: KeyObject | null;
  readonly after?: readonly string[];
  readonly from?: Date;
  /** Ids of rows whose time is in the future. */
  readonly future?: readonly number[];
}

/** The lines of an export: 1 is the header, 2 the first row. */
async function exported({ ids, key: signer = privateKey, after, from, future }: Made): Promise<string[]> {
  const key = signer ?? undefined;
  const options = { log: auditLog, from, to: new Date(1_772_450_000_000), version: '1.0.0', key };
  const former = after === undefined ? undefined : await formerOf(bytes(after.join('\n')), auditLog, key);
  const text = exportedText(logWith(ids, future), { ...options, former, madeAt: new Date(1_772_460_000_000) });
  let all = '';
  for await (const piece of text) all += piece;
  return all.trimEnd().split('\n');
}

async function verified(files: readonly (readonly string[])[], keys = [publicKey], unsigned = false) {
  const verification = new Verification(keys, unsigned);
  for (const [n, lines] of files.entries()) {
    await verification.check(`${n + 1}.jsonl`, bytes(...lines));
  }
  return verification;
}

const problems = async (...args: Parameters<typeof verified>) =>
  (await verified(...args)).problems.map(({ file, line, text }) => `${file}:${line}: ${text}`);

const without = (lines: readonly string[], at: number, count = 1) =>
  lines.filter((_, n) => n < at - 1 || n >= at - 1 + count);
const changed = (lines: readonly string[], at: number, from: string, to: string) =>
  lines.map((line, n) => (n === at - 1 ? line.replace(from, to) : line));

describe('audit verify', () => {
  let first: string[];
  let second: string[];
  beforeAll(async () => {
    first = await exported({ ids: [1, 2, 4, 7, 8] });
    second = await exported({ ids: [1, 2, 4, 7, 8, 11, 12], after: first });
  });

  it('accepts an export, and those that continue it, and tells the rows and the ids without a row', async () => {
    const { files, problems: found, notes } = await verified([first, second]);
    expect({ found, notes }).toEqual({ found: [], notes: [] });
    expect(files).toMatchObject([
      { rows: 5, first: { id: 1 }, last: { id: 8 }, ids_without_row: 3 },
      { rows: 2, first: { id: 11 }, last: { id: 12 }, ids_without_row: 2 },
    ]);
  });

  it.each([
    [
      'T690 a row that was changed',
      (f: string[]) => changed(f, 3, 'USER_CREATED', 'USER_DELETED'),
      ['1.jsonl:3: was changed'],
    ],
    [
      'T690 the last row that was changed',
      (f: string[]) => changed(f, 6, 'USER_CREATED', 'USER_DELETED'),
      ['1.jsonl:6: was changed'],
    ],
    ['T690 one space more', (f: string[]) => changed(f, 4, '{', '{ '), ['1.jsonl:4: was changed']],
    [
      'T691 a row that was removed',
      (f: string[]) => without(f, 4),
      ['1.jsonl:4: 1 of the lines before it are missing', '1.jsonl:6: the manifest counts 5 rows, the file has 4'],
    ],
    [
      'T691 the last two rows that were removed',
      (f: string[]) => without(f, 5, 2),
      [
        '1.jsonl:5: 2 of the lines before it are missing',
        '1.jsonl:5: the manifest counts',
        '1.jsonl:5: the manifest names another first or last row',
      ],
    ],
    [
      'T692 two rows that were swapped',
      (f: string[]) => [...f.slice(0, 2), f[3]!, f[2]!, ...f.slice(4)],
      [
        '1.jsonl:3: 1 of the lines before it are missing',
        '1.jsonl:4: says that it is line 3',
        '1.jsonl:4: id 2 does not grow',
        '1.jsonl:5: 1 of the lines',
      ],
    ],
    [
      'T692 a row that stands twice',
      (f: string[]) => [...f.slice(0, 3), f[2]!, ...f.slice(3)],
      ['1.jsonl:4: says that it is line 3', '1.jsonl:4: id 2 does not grow', '1.jsonl:8: the manifest counts'],
    ],
    [
      'T693 an end that is cut off',
      (f: string[]) => f.slice(0, 4),
      ['1.jsonl:4: the export ends here without a manifest'],
    ],
    [
      'T693 a signature that is cut off',
      (f: string[]) => f.slice(0, -1),
      ['1.jsonl:7: the signature behind the manifest is missing'],
    ],
    [
      'T693 a line that is cut off',
      (f: string[]) => [...f.slice(0, 3), f[3]!.slice(0, 40)],
      ['1.jsonl:4: is no JSON object', '1.jsonl:4: the export ends here without'],
    ],
    [
      'T690 a manifest that was changed',
      (f: string[]) => changed(f, 7, '"count":5', '"count":6'),
      [
        '1.jsonl:7: was changed',
        '1.jsonl:7: the manifest counts 6 rows',
        '1.jsonl:8: does not fit the manifest in line 7',
      ],
    ],
    [
      'T690 a header that was changed',
      (f: string[]) => changed(f, 1, '"after_id":0', '"after_id":1'),
      ['1.jsonl:1: was changed'],
    ],
    [
      'T693 rows behind the manifest',
      (f: string[]) => [...f, f[4]!],
      [
        '1.jsonl:9: says that it is line 5',
        '1.jsonl:9: stands behind the manifest',
        '1.jsonl:9: id 7 does not grow',
        '1.jsonl:7: the manifest counts',
        '1.jsonl:7: the manifest names another first or last row',
      ],
    ],
    [
      'something else',
      () => ['{"a":1}'],
      ['1.jsonl:1: says that it is line undefined', '1.jsonl:1: is not the header', '1.jsonl:1: the export ends here'],
    ],
    ['an empty file', () => [], ['1.jsonl:0: the export ends here']],
  ])('%s is named with its line', async (_what, manipulate, expected) => {
    const found = await problems([manipulate(first)]);
    expect(found).toEqual(expected.map((text) => expect.stringContaining(text) as string));
  });

  it('T694 a chain that was made again without the key is refused, whether it keeps the signature or not', async () => {
    const forged = await exported({ ids: [1, 2, 7, 8], key: null });
    expect(await problems([forged])).toEqual([expect.stringContaining('1.jsonl:6: is not signed')]);
    expect(await problems([forged], [], true)).toEqual([]);
    const other = await exported({ ids: [1, 2, 7, 8], key: stranger.privateKey });
    expect(await problems([other])).toEqual([
      expect.stringMatching(/1.jsonl:7: is made with the key [0-9a-f]{16}, which is none/),
    ]);
    expect(await problems([other], [publicKey, stranger.publicKey])).toEqual([]);
    const ownName = (JSON.parse(first[7]!) as { key_id: string }).key_id;
    const otherName = (JSON.parse(other[6]!) as { key_id: string }).key_id;
    const manifest = other[5]!.replace(otherName, ownName);
    const disguised = [
      ...other.slice(0, 5),
      manifest,
      other[6]!.replace(otherName, ownName).replace(hashOf(other[5]!), hashOf(manifest)),
    ];
    expect(await problems([disguised])).toEqual([
      expect.stringContaining('1.jsonl:7: does not fit the manifest in line 6'),
    ]);
  });

  it('T695 one file that is spliced from two exports is named where the other one begins', async () => {
    const other = await exported({ ids: [1, 2, 3, 7, 8] });
    expect(await problems([[...first.slice(0, 4), ...other.slice(4)]])).toEqual([
      expect.stringContaining('1.jsonl:4: was changed, or line 5 and what follows are those of another export'),
    ]);
  });

  it('T696 an export that is missing between two, or another order of them, is named', async () => {
    const third = await exported({ ids: [1, 2, 4, 7, 8, 11, 12, 13], after: second });
    expect(await problems([first, second, third])).toEqual([]);
    expect(await problems([first, third])).toEqual([expect.stringContaining('2.jsonl:1: does not continue 1.jsonl')]);
    expect(await problems([second, first])).toEqual([expect.stringContaining('2.jsonl:1: does not continue 1.jsonl')]);
    expect((await verified([second])).notes).toEqual([
      expect.objectContaining({
        line: 1,
        text: expect.stringContaining('continues an export that was not given') as string,
      }),
    ]);
  });

  it('T713 rows that stand in neither of two exports are named, also when the later one was made after a forged manifest', async () => {
    // The key has changed between them, so nobody has checked the signature of the manifest that was put in for a moment.
    const forged = changed(first, 7, '"through_id":8', '"through_id":80');
    const later = await exported({ ids: [11, 12, 90], after: forged, key: stranger.privateKey });
    const found = await problems([first, later], [publicKey, stranger.publicKey]);
    expect(found).toEqual([expect.stringContaining('2.jsonl:1: begins behind id 80, and 1.jsonl ends with id 8')]);
  });

  it('T714 a hostile file neither ends the verification nor steers the terminal', async () => {
    const odd = { toString: 1, valueOf: 1 };
    const [header, ...rest] = first.map((line) => JSON.parse(line) as Record<string, unknown>);
    const hostile = [
      { ...header, after_id: odd, oldest: { id: odd }, former: { count: odd, rows_now: '\u001b[2J' } },
      { ...rest[0], n: odd, created_at: odd },
      { ...rest[1], n: '\u001b[2Jintact', created_at: '\u001b[2Jintact' },
      { ...rest[5], count: odd, first: odd, last: '\u001b' },
      { ...rest[6], key_id: '\u001b[2J', signature: odd },
    ].map((line) => JSON.stringify(line));
    const { problems: found, notes, files } = await verified([hostile, hostile]);
    expect(found.length).toBeGreaterThan(10);
    expect(JSON.stringify({ found, notes, files })).not.toContain('u001b');
  });

  it('an export tells, signed, that rows before it and rows of the former export are gone', async () => {
    const later = await exported({ ids: [8, 11, 12, 14], after: second });
    const purged = await exported({ ids: [20, 21], after: second });
    expect((await verified([second, later])).notes.map(({ text }) => text)).toEqual([
      expect.stringContaining('continues'),
    ]);
    expect((await verified([first, second, purged])).notes.map(({ text }) => text)).toEqual([
      'rows before id 20 were not in the table any more when the export was made',
      'of the 2 rows of the export before, the table had 0 when this one was made',
    ]);
  });

  it('a chain that began at --from says so, and those that continue it do not', async () => {
    const began = await exported({ ids: [7, 8], from: new Date('2026-03-02T10:00:00Z') });
    const later = await exported({ ids: [7, 8, 11], after: began });
    expect((await verified([began, later])).notes).toEqual([
      {
        ...{ file: '1.jsonl', line: 1 },
        text: 'the chain begins at 2026-03-02T10:00:00.000Z (--from): it says nothing of the rows before that',
      },
    ]);
  });

  it('rows whose time is after the export are told, with the first of them', async () => {
    const { notes, problems: found } = await verified([await exported({ ids: [1, 2, 4, 7], future: [2, 4] })]);
    expect(found).toEqual([]);
    expect(notes).toEqual([
      {
        ...{ file: '1.jsonl', line: 7 },
        text: 'rows with a time after the export was made: 2, the first is id 2; a clock was wrong',
      },
    ]);
  });

  it('T690 an export is not continued after a manifest that was changed, nor after half an export', async () => {
    const forged = changed(first, 7, '"through_id":8', '"through_id":80');
    await expect(exported({ ids: [90], after: forged })).rejects.toThrow('does not fit its signature');
    await expect(exported({ ids: [90], after: first.slice(0, 5) })).rejects.toThrow('must be a whole export');
  });

  it('an export without rows continues the chain', async () => {
    const empty = await exported({ ids: [], after: second });
    const next = await exported({ ids: [12, 15], after: empty });
    expect(await problems([first, second, empty, next])).toEqual([]);
    expect(next).toHaveLength(4);
  });
});
