import { operatorAuthority } from '../../../admin/authority';
import type { Configuration, Setting } from '../../../admin/configuration';
import { isSecret, knownSettings, valuesKeepingSecret } from '../../../admin/known-settings';
import { isObject, refuseUnknown } from '../entries';
import type { Path } from '../installation-file';
import { changed, checked, notExported, type PlanInput, type Section, type Step } from '../section';

interface Wanted {
  readonly group: string;
  readonly key: string;
  readonly at: Path;
  readonly value: unknown;
}

/** What `config set` stores for the root tenant: `settings: {SMTP: {HOST: mail.example.com}}`. Null removes a setting. */
export class SettingSection implements Section {
  readonly name = 'settings';

  constructor(private readonly configuration: Configuration) {}

  async plan(input: PlanInput): Promise<Step[]> {
    const stored = await this.configuration.list();
    const wanted = this.wanted(input);
    const steps: Step[] = [];
    const keepsSecret = stored.some(({ group, key }) => isSecret(group, key));
    let moves = false;
    for (const one of wanted) {
      const current = stored.find(({ group, key }) => group === one.group && key === one.key);
      const step = await this.step(one, current, input);
      if (step === undefined) continue;
      steps.push(step);
      if (!keepsSecret || !movesSecret(one, step, current)) continue;
      moves = true;
      if (settles(wanted)) continue;
      input.report(one.at, 'changes where the password of the mail server goes: give SMTP.SECRET beside it, or null');
    }
    return moves ? this.withoutFormerSecret(steps) : steps;
  }

  async exported(): Promise<Record<string, Record<string, unknown>>> {
    const groups: Record<string, Record<string, unknown>> = {};
    const known = (await this.configuration.list()).filter(({ group, key }) =>
      knownSettings.some((one) => one.group === group && one.key === key),
    );
    for (const setting of known) (groups[setting.group] ??= {})[setting.key] = valueOf(setting);
    return groups;
  }

  private wanted({ given, report }: PlanInput): Wanted[] {
    if (given === null) return [];
    if (!isObject(given)) {
      report([this.name], 'must have members such as SMTP');
      return [];
    }
    const groups = [...new Set(knownSettings.map(({ group }) => group))];
    refuseUnknown(given, [this.name], groups, report);
    for (const group of groups.filter((one) => given[one] !== undefined)) {
      const keys = knownSettings.filter((one) => one.group === group).map(({ key }) => key);
      if (isObject(given[group])) refuseUnknown(given[group], [this.name, group], keys, report);
      else report([this.name, group], `must have members such as ${keys[0]}`);
    }
    return knownSettings.flatMap(({ group, key }) => {
      const value = isObject(given[group]) ? given[group][key] : undefined;
      return value === undefined ? [] : [{ group, key, value, at: [this.name, group, key] }];
    });
  }

  /**
   * Each step commits alone, and mails are sent between two of them. So the former password goes first: otherwise the new server would
   * get it until the new password is stored, and for as long as the steps between fail.
   */
  private withoutFormerSecret(steps: readonly Step[]): Step[] {
    const secret = steps.find(({ id }) => id === 'SMTP.SECRET');
    if (secret === undefined) return [...steps];
    const others = steps.filter((step) => step !== secret);
    if (secret.action === 'remove') return [secret, ...others];
    const { from, to } = secret.fields.value!;
    const removal: Step = {
      ...{ section: this.name, id: secret.id, action: 'remove', fields: { value: { from, to: null } } },
      apply: () => this.configuration.unset(operatorAuthority, { group: 'SMTP', key: 'SECRET' }),
    };
    return [removal, ...others, { ...secret, action: 'create', fields: { value: { from: null, to } } }];
  }

  private async step(
    { group, key, value, at }: Wanted,
    current: Setting | undefined,
    { report, secrets }: PlanInput,
  ): Promise<Step | undefined> {
    const secret = isSecret(group, key);
    const step = (action: Step['action'], to: unknown, apply: Step['apply']): Step => ({
      ...{ section: this.name, id: `${group}.${key}`, action, apply },
      fields: { value: changed(current === undefined ? null : (valueOf(current) ?? null), to, secret) },
    });
    if (value === null) {
      if (current === undefined) return undefined;
      return step('remove', null, () => this.configuration.unset(operatorAuthority, { group, key }));
    }
    if (secret && value === notExported) {
      if (current === undefined) report(at, 'is not in the file: give a reference such as ${ENV:NAME} or file:PATH');
      return undefined;
    }
    const typed = secret ? secrets.read(textOf(value), at, report) : textOf(value);
    if (typed === undefined) return undefined;
    let same = false;
    await checked(at, report, async () => {
      same = await this.configuration.has({ group, key }, typed);
    });
    if (same) return undefined;
    return step(current === undefined ? 'create' : 'change', isObject(value) ? value : typed, () =>
      this.configuration.set(operatorAuthority, { group, key }, typed),
    );
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A policy is shown as an object, so that a change of it can be read. */
function valueOf({ group, key, value }: Setting): unknown {
  if (isSecret(group, key)) return notExported;
  if (group !== 'CONFIG') return value;
  try {
    return JSON.parse(value ?? '') as unknown;
  } catch {
    return value;
  }
}

/** Whether the stored password of the mail server would go elsewhere, or in clear text. */
function movesSecret({ group, key, value }: Wanted, { action }: Step, current: Setting | undefined): boolean {
  const kept = valuesKeepingSecret(group, key, action === 'remove' ? undefined : textOf(value));
  return kept !== undefined && !kept.includes(current?.value ?? '');
}

const settles = (wanted: readonly Wanted[]): boolean =>
  wanted.some(({ group, key, value }) => isSecret(group, key) && value !== notExported);
