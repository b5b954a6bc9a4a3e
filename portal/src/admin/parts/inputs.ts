import type { problemsOf } from '../drafts';

/** The values and setters that an input takes from its form. */
export interface GroupProps<Draft> {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
  readonly problem: ReturnType<typeof problemsOf>;
}

type Names<Draft, Value> = { [Name in keyof Draft]: Draft[Name] extends Value ? Name : never }[keyof Draft] & string;

interface Texts<Name extends string> {
  readonly fields: Readonly<Record<Name, string>>;
  readonly hints: Readonly<Record<Name, string>>;
}

/** The props of the input of a field, which has the same name in the draft, in the texts and in the answers of the service. */
export function inputsOf<Draft>({ draft, set, problem }: GroupProps<Draft>) {
  const input = <Name extends keyof Draft & string>(name: Name, { fields, hints }: Texts<Name>) => ({
    label: fields[name],
    hint: hints[name],
    onChange: (value: Draft[Name]) => set({ [name]: value } as unknown as Partial<Draft>),
  });
  return {
    text: <Name extends Names<Draft, string>>(name: Name, texts: Texts<Name>) => ({
      ...input(name, texts),
      value: draft[name],
      error: problem(name),
    }),
    list: <Name extends Names<Draft, readonly string[]>>(name: Name, texts: Texts<Name>) => ({
      ...input(name, texts),
      values: draft[name],
      problem: (entry?: number) => problem(name, entry),
    }),
    check: <Name extends Names<Draft, boolean>>(name: Name, texts: Texts<Name>) => ({
      ...input(name, texts),
      checked: draft[name],
    }),
  };
}
