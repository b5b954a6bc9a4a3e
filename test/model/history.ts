import { randomUUID } from 'node:crypto';
import { changeType } from '../../src/shared/change-type';
import { Model } from './model';
import { type Answer, type Request, type Rows, rowsOf, type State, type User } from './state';
import { apart, type History, resolved, type Step } from './operations';
import { Clients } from './clients';
import { type Services, Subject } from './service';
import { Visitors } from './visitors';

/** The model and the service disagree. The message says at which step, about what, and how the history was replayed. */
export class Disagreement extends Error {
  override readonly name = 'Disagreement';

  constructor(
    message: string,
    /** How many steps of the history were replayed. */
    readonly steps: number,
  ) {
    super(message);
  }
}

/** What the run of a history has met. */
export interface Figures {
  steps: number;
  together: number;
  /** How often each operation got each answer. */
  outcomes: Map<string, number>;
  /** Steps that no serial order explains, only an interleaving at the places that the model names. */
  interleaved: Map<string, number>;
}

export const noFigures = (): Figures => ({ steps: 0, together: 0, outcomes: new Map(), interleaved: new Map() });

const firstPassword = 'Initial-Stone-1';

/**
 * Sends a history to the service. After each step, the answers and the rows must be those of the model. For requests
 * that are sent at once, some order of them must explain all answers and rows together.
 * @throws Disagreement
 */
export async function replay(services: Services, history: History, figures = noFigures()): Promise<void> {
  const replicas = services.of(history.mfa);
  const settings = { mfaRequired: history.mfa, rotation: !history.mfa };
  const { subject, state } = await begin(services, history);
  let explanations = [state];
  const known = new Set<string>();
  let passwords = 0;
  for (const [n, step] of history.steps.entries()) {
    if ('wait' in step) {
      services.clock.advanceSeconds(step.wait);
      for (const one of explanations) one.now += step.wait;
      continue;
    }
    const operations = 'together' in step ? step.together : [step];
    const requests = apart(
      operations
        .map((operation) => resolved(operation, explanations[0]!, () => ++passwords))
        .filter((request) => request !== undefined),
    );
    if (requests.length === 0) continue;
    figures.steps += 1;
    if (requests.length > 1) figures.together += 1;
    const answers = await subject.sendAll(requests, explanations[0]!);
    for (const [i, { op }] of requests.entries()) count(figures.outcomes, `${op} ${answers[i]!.code}`);
    const seen = { requests, answers, rows: await subject.rows() };
    const found = explain(explanations, settings, seen, known);
    if (found.states.length === 0)
      throw new Disagreement(report(history, n, step, seen, found.problems, replicas.length), n + 1);
    if (found.interleaved)
      count(
        figures.interleaved,
        requests
          .map(({ op }) => op)
          .sort()
          .join(' ‖ '),
      );
    explanations = found.states;
    for (const value of found.values) known.add(value);
  }
}

/** More replays would take minutes on a busy machine. */
const maxReplays = 200;

/** Removes steps and racing requests, as long as model and service still disagree about something. */
export async function shortened(services: Services, history: History): Promise<{ history: History; problem: Error }> {
  let shortest = { history, problem: new Error('the history did not fail again') };
  let replays = 0;
  for (let again = true; again;) {
    again = false;
    for (const steps of shorter(shortest.history.steps)) {
      if (++replays > maxReplays) break;
      const problem = await problemOf(services, { ...history, steps });
      if (problem === undefined) continue;
      const reached = problem instanceof Disagreement ? problem.steps : steps.length;
      shortest = { history: { ...history, steps: steps.slice(0, reached) }, problem };
      again = true;
      break;
    }
  }
  return shortest;
}

/** Another replay of a race may take another order, so it is repeated. */
async function problemOf(services: Services, history: History): Promise<Error | undefined> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const problem = await replay(services, history).then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    if (problem !== undefined || !history.steps.some((step) => 'together' in step)) return problem;
  }
  return undefined;
}

/** Without the last step, then without a half, a quarter and so on, then with smaller races. */
function* shorter(steps: readonly Step[]): Generator<readonly Step[]> {
  if (steps.length > 1) yield steps.slice(0, -1);
  for (let size = Math.floor(steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = steps.length - size; at >= 0; at -= size) {
      yield [...steps.slice(0, at), ...steps.slice(at + size)];
    }
  }
  yield* smallerRaces(steps);
}

function smallerRaces(steps: readonly Step[]): Step[][] {
  return steps.flatMap((step, at) => {
    if (!('together' in step)) return [];
    const fewer = [...step.together.keys()].map((n) => step.together.filter((_, other) => other !== n));
    return fewer.map((together) => {
      const next = together.length === 1 ? together[0]! : { together };
      return [...steps.slice(0, at), next, ...steps.slice(at + 1)];
    });
  });
}

async function begin(services: Services, history: History): Promise<{ subject: Subject; state: State }> {
  const replicas = services.of(history.mfa);
  const now = services.clock.now().getTime() / 1000;
  const run = randomUUID().slice(0, 8);
  const kinds = ['plain', history.second] as const;
  const users: User[] = [];
  for (const [n, kind] of kinds.entries()) {
    const name = `m${n}-${run}`;
    const temporary = kind === 'temporary';
    const { uid, email } = await replicas[0]!.givenUser(name, { password: firstPassword, temporary });
    users.push({
      ...{ name, uid, email, status: 1, admin: false, erased: false, epoch: 0, temporary },
      ...{ provider: 'password', person: null },
      ...{ failed: 0, failedAt: null, successAt: null, createdAt: now, enabledAt: null },
      passwords: [{ text: firstPassword, type: changeType.first, at: now }],
      ...{ mfaType: 'email', secret: null, lastStep: 0, wrongCodes: 0, blockedUntil: null, recovery: [] },
      ...{ otpUntil: 0, resetUntil: 0, pending: null, enrolment: null },
    });
  }
  const uids = users.map(({ uid }) => uid);
  const nothing = { sessions: [], tokens: [], links: [], devices: [], mails: [], logs: [], names: 0 };
  const given = { application: { enabled: true, members: [0, 1] }, grants: [], records: [], offboardings: [] };
  const clients = await Clients.of(replicas, services, run, uids);
  const visitors = await Visitors.of(replicas, services, run, uids);
  const provider = { id: visitors.id, exists: true, enabled: true };
  const elsewhere = { provider, bindings: [], externalCodes: [] };
  const subject = new Subject(services, replicas, uids, clients, visitors);
  return { subject, state: { now, users, ...given, ...elsewhere, ...nothing } };
}

interface Seen {
  readonly requests: readonly Request[];
  readonly answers: readonly Answer[];
  readonly rows: Rows;
}

interface Explained {
  readonly states: State[];
  readonly values: Set<string>;
  readonly problems: string[];
  readonly interleaved: boolean;
}

type Settings = ConstructorParameters<typeof Model>[1];

/** All states of the model that agree with what was seen. An interleaving counts only when no serial order does. */
function explain(states: readonly State[], settings: Settings, seen: Seen, known: ReadonlySet<string>): Explained {
  const values = new Set<string>();
  const problems: string[] = [];
  for (const orders of [serialOrders, interleavings]) {
    const agreed = new Map<string, State>();
    for (const state of states) {
      for (const { after, answers } of orders(state, settings, seen.requests)) {
        const binding = new Binding(known);
        const problem =
          binding.problem(answers, seen.answers, 'answer') ?? binding.rowProblem(rowsOf(after), seen.rows);
        const bound = problem === undefined ? binding.bound(after) : undefined;
        if (bound === undefined) problems.push(problem ?? 'a value of the model was seen nowhere');
        else {
          agreed.set(JSON.stringify(bound), bound);
          for (const value of binding.values()) values.add(value);
        }
      }
    }
    const interleaved = orders === interleavings;
    if (agreed.size > 0) return { states: [...agreed.values()], values, problems, interleaved };
    if (seen.requests.length === 1) break;
  }
  return { states: [], values, problems, interleaved: false };
}

interface Run {
  readonly after: State;
  readonly answers: Answer[];
}

/** Runs the requests in this order of their parts. @returns undefined with the requests that have more parts */
function run(state: State, settings: Settings, requests: readonly Request[], order: readonly number[]): Run | number[] {
  const after = { ...structuredClone(state), mails: [], logs: [] };
  const model = new Model(after, settings);
  const parts = requests.map((request) => model.run(request));
  const answers: (Answer | undefined)[] = requests.map(() => undefined);
  for (const n of order) {
    const { done, value } = parts[n]!.next();
    if (done) answers[n] ??= value;
  }
  const open = answers.flatMap((answer, n) => (answer === undefined ? [n] : []));
  if (open.length > 0) return open;
  model.forgetDeadGrants();
  return { after, answers: answers as Answer[] };
}

function* serialOrders(state: State, settings: Settings, requests: readonly Request[]): Generator<Run> {
  for (const order of permutations(requests.map((_, n) => n))) {
    const whole = order.flatMap((n) => Array.from({ length: 12 }, () => n));
    yield run(state, settings, requests, whole) as Run;
  }
}

function* interleavings(
  state: State,
  settings: Settings,
  requests: readonly Request[],
  order: readonly number[] = [],
): Generator<Run> {
  const reached = run(state, settings, requests, order);
  if (!Array.isArray(reached)) yield reached;
  else for (const n of reached) yield* interleavings(state, settings, requests, [...order, n]);
}

function permutations(all: readonly number[]): number[][] {
  if (all.length <= 1) return [[...all]];
  return all.flatMap((one) => permutations(all.filter((other) => other !== one)).map((rest) => [one, ...rest]));
}

/** Finds out which values of the service the new names of the model stand for. */
class Binding {
  private readonly names = new Map<string, string>();

  constructor(private readonly known: ReadonlySet<string>) {}

  /** Compares what the model expects with what was seen. @returns the first difference */
  problem(expected: unknown, seen: unknown, path: string): string | undefined {
    if (typeof expected === 'string' && expected.startsWith('?')) return this.bind(expected, seen, path);
    if (Array.isArray(expected)) {
      if (!Array.isArray(seen)) return `${path}: expected a list, seen ${text(seen)}`;
      if (path.endsWith('.sessions') || path.endsWith('.devices')) return this.setProblem(expected, seen, path);
      if (seen.length !== expected.length) return `${path}: expected ${text(expected)}, seen ${text(seen)}`;
      return first(expected, (one, n) => this.problem(one, seen[n], `${path}[${n}]`));
    }
    if (typeof expected === 'object' && expected !== null) {
      if (typeof seen !== 'object' || seen === null) return `${path}: expected ${text(expected)}, seen ${text(seen)}`;
      const fields = seen as Record<string, unknown>;
      return first(Object.entries(expected), ([name, value]) => this.problem(value, fields[name], `${path}.${name}`));
    }
    return Object.is(expected, seen) ? undefined : `${path}: expected ${text(expected)}, seen ${text(seen)}`;
  }

  /** Rows whose values are all known are compared as texts, because there are many of them. */
  rowProblem(expected: Rows, seen: Rows): string | undefined {
    return first(Object.entries(expected), ([table, rows]) => {
      const left = seen[table]!.map((row) => ({ row, key: sortedText(row) }));
      const others = rows.filter((row) => {
        const key = sortedText(row).replace(/\?\d+/g, (name) => this.names.get(name) ?? name);
        const at = left.findIndex((one) => one.key === key);
        if (at >= 0) left.splice(at, 1);
        return at < 0;
      });
      return this.setProblem(
        others,
        left.map(({ row }) => row),
        table,
      );
    });
  }

  /** Rows without new names are compared first, so that they do not take the place of others. */
  private setProblem(expected: readonly unknown[], seen: readonly unknown[], path: string): string | undefined {
    const rest = [...seen];
    const order = (row: unknown) => (this.isBound(row) ? 0 : 1);
    for (const row of [...expected].sort((one, other) => order(one) - order(other))) {
      const at = rest.findIndex((candidate) => this.tries(row, candidate, path));
      if (at < 0) return `${path}: expected ${text(row)}, seen ${text(rest)}`;
      this.problem(row, rest[at], path);
      rest.splice(at, 1);
    }
    return rest.length > 0 ? `${path}: not expected ${text(rest)}` : undefined;
  }

  private tries(expected: unknown, seen: unknown, path: string): boolean {
    const trial = new Binding(this.known);
    for (const [name, value] of this.names) trial.names.set(name, value);
    return trial.problem(expected, seen, path) === undefined;
  }

  private isBound(row: unknown): boolean {
    return newNames(row).every((name) => this.names.has(name));
  }

  /** A new value differs from all earlier ones. Only codes of six digits may be equal by chance. */
  private bind(name: string, seen: unknown, path: string): string | undefined {
    if (typeof seen !== 'string') return `${path}: expected a new value, seen ${text(seen)}`;
    const bound = this.names.get(name);
    if (bound !== undefined) return bound === seen ? undefined : `${path}: expected ${bound}, seen ${seen}`;
    const isCode = /^\d{6}$/.test(seen);
    const isOld = this.known.has(seen) || [...this.names.values()].includes(seen);
    if (isOld && !isCode) return `${path}: expected a new value, seen the earlier ${seen}`;
    this.names.set(name, seen);
    return undefined;
  }

  /** @returns the state with the values; undefined when one of them was not seen */
  bound(state: State): State | undefined {
    let complete = true;
    const revive = (_key: string, value: unknown) => {
      if (typeof value !== 'string' || !value.startsWith('?')) return value;
      const bound = this.names.get(value);
      complete &&= bound !== undefined;
      return bound;
    };
    const after = JSON.parse(JSON.stringify(state), revive) as State;
    return complete ? after : undefined;
  }

  values(): Iterable<string> {
    return this.names.values();
  }
}

const newNames = (value: unknown): string[] => JSON.stringify(value).match(/\?\d+/g) ?? [];

function first<T>(all: readonly T[], problemOf: (one: T, n: number) => string | undefined): string | undefined {
  for (const [n, one] of all.entries()) {
    const problem = problemOf(one, n);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The same text for rows with the same fields, in whatever order. */
const sortedText = (row: object): string =>
  JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1)));

const text = (value: unknown): string => JSON.stringify(value);

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function report(
  history: History,
  n: number,
  step: Step,
  seen: Seen,
  problems: readonly string[],
  replicas: number,
): string {
  const lines = [
    `the service disagrees with the model at step ${n + 1} of ${history.steps.length}, ${replicas} replicas: ${text(step)}`,
    ...seen.requests.map((request, i) => `  ${text(request)}\n    -> ${text(seen.answers[i])}`),
    'no order of the requests explains it:',
    ...[...new Set(problems)].slice(0, 12).map((problem) => `  ${problem}`),
    `history: ${text({ ...history, steps: history.steps.slice(0, n + 1) })}`,
  ];
  return lines.join('\n');
}
