import type { ReactNode } from 'react';
import { Form } from '../../components/form';
import { Failure } from '../../components/message';
import { Submit } from '../../components/submit';
import type { Task } from '../../use-task';
import { useTexts } from '../i18n/texts';
import { PageHead } from './page-head';

interface NewEntryFormProps {
  readonly title: string;
  /** The list that the entry will be in. */
  readonly up: { readonly href: string; readonly text: string };
  readonly save: Task<[]>;
  readonly onSubmit: () => void;
  readonly submit: string;
  /** The id of the message about a refusal. */
  readonly messageId?: string;
  readonly children: ReactNode;
}

/** A page with a form that makes a new entry of a list. */
export function NewEntryForm(props: NewEntryFormProps): ReactNode {
  const { title, up, save, onSubmit, submit, messageId, children } = props;
  const { newUser: texts } = useTexts();
  return (
    <>
      <PageHead title={title} up={up} />
      <div className="narrow">
        <Form busy={save.busy} onSubmit={onSubmit}>
          <Failure id={messageId} error={save.error} />
          {children}
          <div className="actions start">
            <Submit label={submit} busy={save.busy} busyLabel={texts.busy} />
            <a className="secondary" href={up.href}>
              {texts.cancel}
            </a>
          </div>
        </Form>
      </div>
    </>
  );
}
