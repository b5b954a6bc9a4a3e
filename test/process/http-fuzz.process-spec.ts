import type { Report } from '../support/fuzz/fuzz-service';
import { type FuzzReport, HttpFuzz } from '../support/fuzz/http-fuzz';
import { operations, unlikely } from '../support/fuzz/operations';

const seed = Number(process.env.HTTP_FUZZ_SEED ?? 22);
const [fromGrammar, fromBytes] = [20_000, 30_000];

/** `npm run fuzz` sends more of them. */
describe(`T214 50,000 hostile requests to the built program (seed ${seed})`, () => {
  let report: FuzzReport;

  beforeAll(async () => {
    report = await HttpFuzz.run({ seed, fromGrammar, fromBytes });
    // It takes minutes, and many times as long on a busy machine.
  }, 2_400_000);

  it('each answer is one that openapi.json declares, none is a 5xx, and none takes two seconds', () => {
    expect(report.findings).toEqual([]);
    expect(report.sent).toBeGreaterThanOrEqual(fromGrammar + fromBytes);
  });

  it('no request makes the program end, log an error or hold up the others', () => {
    expect(report.ended).toBe(false);
    expect(report.errors).toEqual([]);
    for (const { longestHoldMs } of report.reports) expect(longestHoldMs).toBeLessThan(2000);
  });

  it('the memory does not grow', () => {
    const [early, late] = report.reports as [Report, Report];
    expect(late.heapMb - early.heapMb).toBeLessThan(60);
    expect(late.rssMb - early.rssMb).toBeLessThan(250);
  });

  it('each likely operation of the document has succeeded, so that its own answers were judged', () => {
    const missed = operations.filter(({ id }) => (report.successes[id] ?? 0) === 0).map(({ id }) => id);
    expect(missed.filter((id) => !unlikely.includes(id))).toEqual([]);
  });
});
