import { type ReactNode, useState } from 'react';
import { auth } from '../auth';
import { Message } from '../components/message';
import { NewPassword } from '../components/new-password';
import { useSpeech } from '../i18n/texts';
import { Time } from './entry';
import { useTexts } from './i18n/texts';
import { Loaded } from './loaded';
import { type AccountCardProps, focusPanel, Panel } from './panel';

const id = 'password';

/** Changes the password. The user stays signed in in this browser. */
export function PasswordCard({ me, onChanged }: AccountCardProps): ReactNode {
  const { t } = useSpeech();
  const { ownPassword: texts } = t.account;
  const { unsaved } = useTexts();
  const [open, setOpen] = useState(false);
  const [changed, setChanged] = useState(false);
  const close = () => {
    setOpen(false);
    focusPanel(id);
  };
  return (
    <Panel id={id} title={texts.title}>
      {changed && <Message kind="success">{texts.changed}</Message>}
      {me.password_expires_at !== null && !changed && (
        <p>
          <Time text={texts.expires} at={new Date(me.password_expires_at)} />
        </p>
      )}
      {open ? (
        <Loaded load={() => auth.passwordPolicy()}>
          {(policy) => (
            <NewPassword
              policy={policy}
              username={me.login_name}
              withCurrent
              unsaved={unsaved}
              send={async (passwords) => {
                await auth.changeOwnPassword(passwords);
                setChanged(true);
                close();
                onChanged();
              }}
            >
              <button type="button" className="secondary" onClick={close}>
                {t.account.cancel}
              </button>
            </NewPassword>
          )}
        </Loaded>
      ) : (
        <>
          <p className="note">{texts.intro}</p>
          <button
            type="button"
            className="secondary"
            onClick={() => {
              setChanged(false);
              setOpen(true);
            }}
          >
            {texts.open}
          </button>
        </>
      )}
    </Panel>
  );
}
