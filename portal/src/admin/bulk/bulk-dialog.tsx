import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { AdminUser } from '@portal-auth/sdk/admin';
import { Form } from '../../components/form';
import { Failure } from '../../components/message';
import { fill, useSpeech } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { useTexts } from '../i18n/texts';
import { TenantField } from '../parts/tenant-field';
import { userHref } from '../place';
import { type BulkAction, type BulkOutcome, type BulkStep, runBulk, undoOf } from './run-bulk';
import '../../styles/dialog.css';

/** Names that the confirmation shows. */
const named = 8;

interface BulkDialogProps {
  readonly action: BulkAction;
  readonly users: readonly AdminUser[];
  /** @param changed whether anything was done */
  readonly onClose: (changed: boolean) => void;
}

/** Asks, shows the progress, and then what became of each user, with a way back where there is one. */
export function BulkDialog({ action, users, onClose }: BulkDialogProps): ReactNode {
  const { t } = useSpeech();
  const { bulk } = useTexts();
  const dialog = useRef<HTMLDialogElement>(null);
  const stop = useRef<AbortController>(undefined);
  const id = useId();
  const [tenantId, setTenantId] = useState('');
  const [steps, setSteps] = useState<readonly BulkStep[]>();
  const [outcomes, setOutcomes] = useState<readonly BulkOutcome[]>([]);
  const [undone, setUndone] = useState(false);
  const [changed, setChanged] = useState(false);
  const task = useTask(async (next: readonly BulkStep[]) => {
    setSteps(next);
    setOutcomes([]);
    const { signal } = (stop.current = new AbortController());
    setChanged(true);
    await runBulk(next, setOutcomes, signal);
  });
  useEffect(() => {
    dialog.current?.showModal();
    return () => stop.current?.abort();
  }, []);
  const acts = bulk.acts[action];
  const first = { action, users, ...(action === 'move' && { tenantId }) };
  const close = () => dialog.current?.close();
  return (
    <dialog
      ref={dialog}
      aria-labelledby={`${id}-title`}
      onCancel={(event) => task.busy && event.preventDefault()}
      onClose={() => onClose(changed)}
    >
      {steps === undefined ? (
        <Form busy={false} onSubmit={() => void ((action !== 'move' || tenantId !== '') && task.run([first]))}>
          <h2 id={`${id}-title`}>{fill(acts.ask, { count: users.length })}</h2>
          <div className="dialog-text">
            <p>{acts.effect}</p>
            <Names users={users} />
            {action === 'move' && <TenantField value={tenantId} onChange={setTenantId} choose={bulk.choose} />}
          </div>
          <div className="actions">
            <button type="button" className="secondary" onClick={close} autoFocus>
              {t.account.cancel}
            </button>
            <button
              type="submit"
              className={action === 'disable' ? 'primary danger' : 'primary'}
              disabled={action === 'move' && tenantId === ''}
            >
              {acts.button}
            </button>
          </div>
        </Form>
      ) : (
        <div className="bulk-result">
          <h2 id={`${id}-title`}>{undone ? bulk.undoing : acts.label}</h2>
          <Progress steps={steps} outcomes={outcomes} busy={task.busy} />
          <Failure error={task.error} />
          {!task.busy && <Refused outcomes={outcomes} />}
          <div className="actions">
            {task.busy ? (
              <button type="button" className="secondary" onClick={() => stop.current?.abort()}>
                {bulk.stop}
              </button>
            ) : (
              <Next
                steps={steps}
                outcomes={outcomes}
                undone={undone}
                onClose={close}
                onUndo={(back) => {
                  setUndone(true);
                  void task.run(back);
                }}
              />
            )}
          </div>
        </div>
      )}
    </dialog>
  );
}

function Names({ users }: { readonly users: readonly AdminUser[] }): ReactNode {
  const { bulk } = useTexts();
  const names = users.slice(0, named).map(({ nickname, login_name }) => nickname ?? login_name);
  const rest = users.length - names.length;
  return <p className="bulk-names">{names.join(', ') + (rest > 0 ? ` ${fill(bulk.andMore, { count: rest })}` : '')}</p>;
}

interface ProgressProps {
  readonly steps: readonly BulkStep[];
  readonly outcomes: readonly BulkOutcome[];
  readonly busy: boolean;
}

function Progress({ steps, outcomes, busy }: ProgressProps): ReactNode {
  const { bulk } = useTexts();
  const total = steps.reduce((sum, { users }) => sum + users.length, 0);
  const refused = outcomes.filter(({ code }) => code !== undefined).length;
  const counts = { done: outcomes.length - refused, refused, total, left: total - outcomes.length };
  return (
    <>
      {busy && <progress max={total} value={outcomes.length} aria-label={bulk.progress} />}
      <p role="status">
        {busy
          ? fill(bulk.running, { count: outcomes.length, total })
          : fill(refused + counts.left === 0 ? bulk.allDone : counts.left > 0 ? bulk.stopped : bulk.someDone, counts)}
      </p>
    </>
  );
}

function Refused({ outcomes }: { readonly outcomes: readonly BulkOutcome[] }): ReactNode {
  const { bulk } = useTexts();
  const refused = outcomes.filter(({ code }) => code !== undefined);
  if (refused.length === 0) return null;
  return (
    <ul className="bulk-refused" aria-label={bulk.refused} tabIndex={0}>
      {refused.map(({ user, code = '' }) => (
        <li key={user.uid}>
          <a href={userHref(user.uid)}>{user.nickname ?? user.login_name}</a>
          <span className="note">{(bulk.reasons as Record<string, string>)[code] ?? code}</span>
        </li>
      ))}
    </ul>
  );
}

interface NextProps extends Omit<ProgressProps, 'busy'> {
  readonly undone: boolean;
  readonly onClose: () => void;
  readonly onUndo: (steps: readonly BulkStep[]) => void;
}

function Next({ steps, outcomes, undone, onClose, onUndo }: NextProps): ReactNode {
  const { bulk } = useTexts();
  const [step] = steps;
  const back = undone || step === undefined ? [] : undoOf(step, outcomes);
  return (
    <>
      {back.length > 0 && (
        <button type="button" className="secondary" onClick={() => onUndo(back)}>
          {fill(bulk.undo, { count: back.reduce((sum, { users }) => sum + users.length, 0) })}
        </button>
      )}
      <button type="button" className="primary" onClick={onClose} autoFocus>
        {bulk.close}
      </button>
    </>
  );
}
