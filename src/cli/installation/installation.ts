import { refuseUnknown } from './entries';
import { type Fault, readInstallation } from './installation-file';
import type { SecretReferences } from './secret-references';
import type { Known, Section, Step } from './section';

/** The file is not applied: nothing was written. */
export class WrongFile extends Error {
  override readonly name = 'WrongFile';

  constructor(readonly faults: readonly Fault[]) {
    super(`the file has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}: nothing was changed`);
  }
}

/** A step that did not succeed. Those before it were applied. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';

  constructor(
    readonly step: Step,
    readonly done: readonly Step[],
    cause: unknown,
  ) {
    super(`${step.section} ${step.id}`, { cause });
  }
}

const version = 1;

/**
 * What administrators set up, as one text in version control (ADR 0045). A member or an object that the text does not name stays as
 * it is: nothing is deleted.
 */
export class Installation {
  constructor(
    private readonly sections: readonly Section[],
    private readonly secrets: SecretReferences,
  ) {}

  /** Checks everything and writes nothing. @returns what would change @throws WrongFile */
  async plan(text: string): Promise<Step[]> {
    const { members, report, faults } = readInstallation(text);
    const known: Known = { tenants: new Set(), groups: new Set() };
    refuseUnknown(members, [], ['version', ...this.sections.map(({ name }) => name)], report);
    if (faults().length === 0 && members.version !== version) report(['version'], `must be ${version}`);
    const steps: Step[] = [];
    // After a fault of the syntax there are no members, and nothing to compare.
    const readable = faults().every(({ path }) => path !== '');
    for (const section of readable ? this.sections : []) {
      const given = members[section.name] ?? null;
      steps.push(...(await section.plan({ given, report, secrets: this.secrets, known })));
    }
    if (faults().length > 0) throw new WrongFile(faults());
    return steps;
  }

  /**
   * Applies the steps one after the other, each in a transaction of its own.
   * Races with another `apply` and with administrators. A step that fails is planned again: when another one has made the change
   * already, the new plan is without it, and the rest goes on. Otherwise its error is the answer. So two calls with one file end in the
   * same state, and neither fails because of the other one.
   * @param told called after each step @throws WrongFile @throws StepFailed
   */
  async apply(text: string, told: (step: Step) => void = () => undefined): Promise<Step[]> {
    const done: Step[] = [];
    for (let steps = await this.plan(text); ;) {
      const step = steps.shift();
      if (step === undefined) return done;
      try {
        await step.apply();
        done.push(step);
        told(step);
      } catch (error) {
        const again = await this.planAgain(text, step, done, error);
        if (again.some((one) => isSame(one, step))) throw new StepFailed(step, done, error);
        steps = again;
      }
    }
  }

  /** In the form that `plan` reads. Without secrets. */
  async exported(): Promise<Record<string, unknown>> {
    const members: Record<string, unknown> = { version };
    for (const section of this.sections) members[section.name] = await section.exported();
    return members;
  }

  private async planAgain(text: string, step: Step, done: readonly Step[], cause: unknown): Promise<Step[]> {
    try {
      return await this.plan(text);
    } catch {
      throw new StepFailed(step, done, cause);
    }
  }
}

/** Whether the same difference is still there. */
const isSame = (one: Step, other: Step): boolean =>
  one.section === other.section && one.id === other.id && one.action === other.action;
