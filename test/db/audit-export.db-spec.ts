import { LogRanges } from '../../src/audit/log-ranges';
import { auditLog, loginLog, type LogTable } from '../../src/audit/log-tables';
import type { Former } from '../../src/cli/audit/chain';
import { exportedText, formerOf, settledSeconds } from '../../src/cli/audit/export';
import { Verification } from '../../src/cli/audit/verification';
import type { SqlValue } from '../../src/platform/database/sql';
import { TestService } from '../support/app';

async function* bytes(...texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

describe('the export of a log', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());
  beforeEach(() => service.database.affected('DELETE FROM audit_logs'));

  const ago = (seconds: number) => service.clock.secondsFromNow(-seconds);

  async function given(rows: readonly { id: number; at: Date; detail?: string }[]): Promise<void> {
    const values: SqlValue[] = rows.flatMap(({ id, at, detail = '{}' }) => [id, 'USER_CREATED', detail, at]);
    const places = rows.map(() => '(?, ?, ?, ?)').join(', ');
    await service.database.affected(`INSERT INTO audit_logs (id, event, detail, created_at) VALUES ${places}`, values);
  }

  async function exported(former?: Former, more: { log?: LogTable; from?: Date; to?: Date } = {}): Promise<string[]> {
    const { log = auditLog, from, to = ago(settledSeconds) } = more;
    const text = exportedText(service.app.get(LogRanges), {
      ...{ log, former, from, to, madeAt: service.clock.now(), version: '1.0.0', key: undefined },
    });
    let all = '';
    for await (const piece of text) all += piece;
    return all.trimEnd().split('\n');
  }
  const continued = async (lines: readonly string[]) =>
    formerOf(bytes(lines.slice(-2).join('\n')), auditLog, undefined);
  const idsOf = (lines: readonly string[]) =>
    lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .flatMap(({ type, id }) => (type === 'row' ? [id] : []));

  async function verified(...files: readonly string[][]): Promise<Verification> {
    const verification = new Verification([], true);
    for (const [n, lines] of files.entries()) await verification.check(`${n}`, bytes(...lines));
    return verification;
  }

  it('has each row once and in the order of the ids, over several pages, with what the row says', async () => {
    const ids = Array.from({ length: 2_345 }, (_, n) => 10 + 2 * n);
    await given(ids.map((id) => ({ id, at: ago(90_000 - id), detail: '{"via":"cli"}' })));
    const lines = await exported();
    expect(idsOf(lines)).toEqual(ids);
    expect(JSON.parse(lines[1]!)).toEqual({
      ...{ n: 2, prev: expect.stringMatching(/^[0-9a-f]{64}$/) as string, type: 'row', id: 10 },
      ...{ created_at: ago(89_990).toISOString(), event: 'USER_CREATED', user_id: null, actor_id: null, ip: null },
      ...{ user_agent: null, request_id: null, detail: { via: 'cli' } },
    });
    const { problems, files } = await verified(lines);
    expect({ problems, files }).toMatchObject({ problems: [], files: [{ rows: ids.length, last: { id: 4_698 } }] });
  });

  it('T697 a row whose transaction commits after rows with greater ids is in the next export', async () => {
    await given([
      { id: 1, at: ago(settledSeconds + 9) },
      { id: 3, at: ago(5) },
    ]);
    const first = await exported();
    await given([{ id: 2, at: ago(6) }]);
    service.clock.advanceSeconds(2 * settledSeconds);
    const second = await exported(await continued(first));
    expect([idsOf(first), idsOf(second)]).toEqual([[1], [2, 3]]);
    expect((await verified(first, second)).problems).toEqual([]);
  });

  it('a row with a time in the future holds up nothing, and hides no row that commits late', async () => {
    const future = service.clock.secondsFromNow(86_400 * 365);
    await given([
      { id: 1, at: ago(settledSeconds + 9) },
      { id: 2, at: future },
      { id: 4, at: ago(settledSeconds + 5) },
      { id: 5, at: future },
      { id: 7, at: ago(5) },
    ]);
    const first = await exported();
    // Row 6 may still be in a transaction, and it comes behind row 5.
    expect(idsOf(first)).toEqual([1, 2, 4]);
    await given([{ id: 6, at: ago(6) }]);
    service.clock.advanceSeconds(2 * settledSeconds);
    const second = await exported(await continued(first));
    expect(idsOf(second)).toEqual([5, 6, 7]);
    const { problems, notes } = await verified(first, second);
    expect(problems).toEqual([]);
    expect(notes.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^rows with a time after the export was made: 1, the first is id 2/),
      expect.stringMatching(/^rows with a time after the export was made: 1, the first is id 5/),
    ]);
    // Neither is it where an export begins, nor is it exported before a row behind it has settled.
    const from = { from: ago(3 * settledSeconds + 6) };
    expect(idsOf(await exported(undefined, from))).toEqual([4, 5, 6, 7]);
    await given([{ id: 8, at: future }]);
    expect(idsOf(await exported(await continued(second)))).toEqual([]);
  });

  it('T698 rows of the former export that were deleted since, and rows that appeared among them, are told', async () => {
    const at = ago(settledSeconds + 9);
    await given([1, 2, 3].map((id) => ({ id, at })));
    const first = await exported();
    await service.database.affected('DELETE FROM audit_logs WHERE id = 2');
    await given([{ id: 4, at }]);
    const second = await exported(await continued(first));
    const { problems, notes } = await verified(first, second);
    expect({ problems, notes }).toMatchObject({
      problems: [],
      notes: [{ text: expect.stringMatching(/the 3 rows .* had 2 /) as string }],
    });
  });

  it('the options of time choose the range, also where no row is left', async () => {
    await given([1, 2, 3, 4].map((id) => ({ id, at: ago(90_000 - id * 1000) })));
    const range = { from: ago(88_000), to: ago(86_000) };
    expect(idsOf(await exported(undefined, range))).toEqual([2, 3]);
    expect(idsOf(await exported(undefined, { to: ago(100_000) }))).toEqual([]);
    await expect(exported(undefined, { from: ago(settledSeconds) })).rejects.toThrow('no row since --from');
  });

  it('also exports the logins', async () => {
    await service.givenUser('alice');
    await service.login('alice', 'wrong');
    service.clock.advanceSeconds(2 * settledSeconds);
    const lines = await exported(undefined, { log: loginLog });
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ type: 'row', login_name: 'alice', outcome: 'LOGIN_401001' }),
    );
    expect((await verified(lines)).problems).toEqual([]);
  });
});
