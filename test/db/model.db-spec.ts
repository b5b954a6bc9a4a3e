import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { type Figures, noFigures, replay, shortened } from '../model/history';
import { type History, histories } from '../model/operations';
import { Services } from '../model/service';

/** `npm run model` sets them (CONTRIBUTING.md). */
const { MODEL_HISTORIES, MODEL_SEED, MODEL_PATH, MODEL_FILE } = process.env;

const kept = join(__dirname, '../model/kept');
const isSqlite = __DATABASE__ === 'sqlite';
/** A history takes a second with two replicas on MariaDB. `npm run model` replays thousands. */
const runs = Number(MODEL_HISTORIES ?? (isSqlite ? 25 : 13));
const seed = Number(MODEL_SEED ?? 22);

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as History;

/**
 * The model is the specification as a program (test/model/model.ts). Two replicas answer in turn. Requests that are sent at
 * once go to different ones on MariaDB, and to one of them on SQLite, which is for one process.
 */
describe('histories of users, administrators and time', () => {
  let services: Services;
  const figures: Figures = noFigures();
  beforeAll(async () => {
    services = await Services.start(2);
    // Four services start in one process.
  }, 600_000);
  // It looks for secrets in the log of all requests.
  afterAll(() => services.stop(), 600_000);

  const files = MODEL_FILE === undefined ? readdirSync(kept).map((name) => join(kept, name)) : [MODEL_FILE];
  it.each(files.map((file) => [basename(file, '.json'), file]))(
    'the model and the service agree on the kept history %s',
    async (_name, file) => {
      await replay(services, read(file));
    },
  );

  if (MODEL_FILE !== undefined) return;
  it(
    `the model and the service agree on each answer and row of ${runs} random histories (seed ${seed})`,
    async () => {
      const property = fc.asyncProperty(histories, (history) => replay(services, history, figures));
      const { failed, counterexample, counterexamplePath, errorInstance } = await fc.check(property, {
        ...{ numRuns: runs, seed, path: MODEL_PATH, endOnFailure: true },
      });
      if (failed) {
        const { history, problem } = await shortened(services, counterexample![0]);
        const again = `npm run model -- --database ${__DATABASE__} --seed ${seed} --path ${counterexamplePath}`;
        const shortest = `the shortest history that fails: ${JSON.stringify(history)}`;
        throw new Error(`${String(errorInstance)}\n${shortest}\n${problem.message}\n${again}`);
      }
      if (MODEL_HISTORIES !== undefined) print(figures);
      // The histories have contained something.
      expect(figures.steps).toBeGreaterThan(5 * runs);
      expect(figures.together).toBeGreaterThan(runs);
    },
    // A busy machine takes many times as long as an idle one.
    300_000 + runs * 60_000,
  );
});

function print({ steps, together, outcomes, interleaved }: Figures): void {
  const listed = (counts: Map<string, number>) => [...counts].sort().map(([what, n]) => `  ${n} ${what}`);
  const lines = [`${steps} steps, ${together} of them parallel`, ...listed(outcomes)];
  process.stdout.write([...lines, 'explained by an interleaving only:', ...listed(interleaved), ''].join('\n'));
}
