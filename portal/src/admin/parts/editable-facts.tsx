import type { ReactNode } from 'react';
import { useTexts } from '../i18n/texts';
import { useOpenForm } from '../use-draft';
import { useViewer } from '../viewer';
import { Card } from './card';
import { Facts } from './facts';

/** How a form is left. */
export interface FormEnds {
  readonly onSaved: () => void;
  readonly onCancel: () => void;
}

interface EditableFactsProps {
  readonly title: string;
  readonly facts: readonly (readonly [string, ReactNode])[];
  readonly form: (ends: FormEnds) => ReactNode;
  readonly onSaved: () => void;
}

/** What the service knows about an entry, and in its place the form with the draft `details` that changes it. */
export function EditableFacts({ title, facts, form, onSaved }: EditableFactsProps): ReactNode {
  const { user } = useTexts();
  const { writes } = useViewer();
  const [editing, setEditing] = useOpenForm('details');
  const close = () => setEditing(false);
  if (editing)
    return form({
      onSaved: () => {
        close();
        onSaved();
      },
      onCancel: close,
    });
  return (
    <Card
      title={title}
      action={
        writes && (
          <button type="button" className="secondary small" onClick={() => setEditing(true)}>
            {user.edit}
          </button>
        )
      }
    >
      <div className="long-facts">
        <Facts facts={facts} />
      </div>
    </Card>
  );
}
