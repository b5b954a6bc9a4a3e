import { useState } from 'react';
import type { Task } from '../use-task';
import { problemsOf } from './drafts';

/** Each required field: its value, and the text that a missing value gets. */
type Required<Name extends string> = Readonly<Record<Name, readonly [value: string, text: string]>>;

/** A form with a missing field is not sent. The text stands at the field, as does what the service says about the field. */
export function useRequired<Name extends string>(task: Task<[]>, required: Required<Name>) {
  const [checked, setChecked] = useState(false);
  const isMissing = (name: Name) => required[name][0].trim() === '';
  const problem = problemsOf(task.error);
  return {
    save: () => {
      setChecked(true);
      if ((Object.keys(required) as Name[]).some(isMissing)) task.reset();
      else void task.run();
    },
    problemAt: (name: Name) => (checked && isMissing(name) ? required[name][1] : problem(name)),
  };
}
