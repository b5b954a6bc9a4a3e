import { useEffect, useRef, useState } from 'react';
import { auth } from '../auth';
import { changedIn } from './drafts';
import { remembered } from '../tab-memory';
import { DraftStore } from './draft-store';
import { useTexts } from './i18n/texts';
import { usePlace } from './place';
import { say } from './toasts';
import { useUnsaved } from './unsaved';
import { useViewer } from './viewer';

const drafts = new DraftStore(remembered('portal.drafts'));

interface DraftOptions<T> {
  /** Fields that no storage of the browser may have. */
  readonly secret?: readonly (keyof T)[];
  /** Whether the values are worth a question before they are left. Usually: any change. */
  readonly asks?: (values: T, changed: boolean) => boolean;
}

/**
 * The values of a form, which are not lost: it asks before the page is left with changes, and when the session ends, the
 * changes are there again after the same administrator has signed in. `name` names the form on its page.
 */
export function useDraft<T extends object>(name: string, initial: T, options: DraftOptions<T> = {}) {
  const { drafts: texts } = useTexts();
  const { uid, key } = useKey(name);
  const [before] = useState(initial);
  const [returned] = useState(() => drafts.kept(uid, key));
  const [values, set] = useState<T>({ ...before, ...returned });
  const change = changedIn(before, values);
  const changed = Object.keys(change).length > 0;
  useUnsaved(options.asks?.(values, changed) ?? changed);

  const worthKeeping = { ...change };
  for (const one of options.secret ?? []) delete worthKeeping[one];
  const latest = useRef<Partial<T>>(worthKeeping);
  useEffect(() => {
    latest.current = worthKeeping;
  });
  useEffect(
    () => () => {
      const { step } = auth.snapshot;
      const ended = step.kind === 'signed-out' && step.notice === 'session-ended';
      if (ended && Object.keys(latest.current).length > 0) drafts.keep(uid, key, latest.current);
    },
    [uid, key],
  );
  const { restored } = texts;
  useEffect(() => {
    if (returned === undefined) return;
    drafts.remove(uid, key);
    say(restored);
  }, [returned, uid, key, restored]);
  return [values, set, before] as const;
}

/** Whether a form is open. One that was open when the session ended is open again. */
export function useOpenForm(name: string) {
  const { uid, key } = useKey(name);
  return useState(() => drafts.kept(uid, key) !== undefined);
}

function useKey(name: string) {
  const { uid } = useViewer().me;
  return { uid, key: `${usePlace().path} ${name}` };
}
