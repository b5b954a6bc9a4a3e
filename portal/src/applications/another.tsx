import type { ReactNode } from 'react';
import { auth } from '../auth';
import { paths } from '../paths';
import { target } from '../tab-memory';
import { useTask } from '../use-task';
import { useTexts } from './i18n/texts';

/** Signs the user out. The next user of this tab goes on with the same sign-in to the application. */
export function Another({ text }: { readonly text?: string }): ReactNode {
  const texts = useTexts();
  const leave = useTask(() => {
    // After a sign-out the pages forget the page that the user has left, where there is a home page.
    target.set(paths.interaction + location.hash);
    return auth.logout();
  });
  return (
    <p className="aside">
      {text !== undefined && <span className="note">{text} </span>}
      <button type="button" className="link" disabled={leave.busy} onClick={() => void leave.run()}>
        {texts.another}
      </button>
    </p>
  );
}
