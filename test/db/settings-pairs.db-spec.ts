import { TestService } from '../support/app';
import { FakeClock } from '../support/fakes';
import { Counterparts } from '../support/pairs/counterparts';
import { coveringArray, missingPairs } from '../support/pairs/covering-array';
import { type Declared, declaredSettings, refusals } from '../support/pairs/declared-settings';
import {
  ecKey,
  environmentOf,
  type Factors,
  factorsOf,
  fewer,
  refusedTogether,
  type Row,
  undecided,
} from '../support/pairs/factors';
import { Walk } from '../support/pairs/walk';
import { testSettings } from '../support/settings';

/** `npm run check:pairs` sets it: all values of each setting (CONTRIBUTING.md). */
const isWide = process.env.PAIRS === 'all';

/** ADR 0058. What works alone may break beside another setting that nobody has started with it. */
describe('each two settings together', () => {
  let others: Counterparts;
  let declared: Map<string, Declared>;
  let factors: Factors;
  const impossible = refusedTogether.map(({ values }) => values);

  beforeAll(async () => {
    others = await Counterparts.start();
    const { directory, webhook, legacy } = others.urls;
    // What reads further settings is on, and no key has to be generated.
    const readers = { OIDC: 'on', OIDC_PRIVATE_KEY: ecKey(), SCIM: 'on', ...directory, ...webhook, ...legacy };
    declared = declaredSettings({ ...testSettings, ...readers });
    factors = factorsOf(declared, others);
  });
  afterAll(() => others?.stop());

  it('each setting is in the array, is a number, or has a reason why it is not', () => {
    expect(declared.size).toBeGreaterThan(140);
    expect(undecided(declared, factors)).toEqual([]);
  });

  it.each(refusedTogether.map(({ values, says }) => [says, values] as const))(
    'the start is refused with: %s',
    (says, values) => {
      const first = Object.fromEntries(Object.entries(factors).map(([name, all]) => [name, Object.keys(all)[0]!]));
      const rows = Object.entries(values).reduce<Row[]>(
        (all, [name, these]) => all.flatMap((row) => these.map((value) => ({ ...row, [name]: value }))),
        [first],
      );
      for (const row of rows) {
        expect(refusals({ ...testSettings, ...environmentOf(factors, row) }).join('; ')).toBe(says);
      }
    },
  );

  it(
    'each pair of values starts, answers the main stories as its settings say, and stops',
    async () => {
      const chosen = isWide ? factors : fewer(factors);
      const rows = coveringArray(chosen, impossible);
      expect(missingPairs(chosen, rows, impossible)).toEqual([]);
      const faults: string[] = [];
      for (const [n, row] of rows.entries()) {
        const found = await faultsOf(environmentOf(chosen, row));
        const values = Object.entries(row).map((value) => value.join('='));
        if (found.length > 0) faults.push(`row ${n} of ${rows.length}: ${values.join(' ')}`, ...found);
      }
      expect(faults).toEqual([]);
      if (isWide) process.stdout.write(`${rows.length} rows of ${Object.keys(chosen).length} settings\n`);
    },
    isWide ? 7_200_000 : 1_800_000,
  );

  async function faultsOf(environment: Record<string, string>): Promise<string[]> {
    await others.forget();
    try {
      // The time of the database server, without which the service is not ready.
      const service = await TestService.start(environment, { clock: new FakeClock(new Date()) });
      const walk = await Walk.through(service, environment, others).finally(() => service.stop());
      return walk.faults;
    } catch (error) {
      return [error instanceof Error ? (error.stack ?? error.message) : 'an unknown error'];
    }
  }
});
