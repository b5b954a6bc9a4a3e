import { type ReactNode, useState } from 'react';
import { auth } from '../auth';
import { ConfirmActions } from '../components/form-actions';
import { Failure, Message } from '../components/message';
import { moment } from '../i18n/dates';
import { fill, inARow, useSpeech } from '../i18n/texts';
import { useTask } from '../use-task';
import { fewCodes, isAsked } from './advice';
import { useTexts } from './i18n/texts';
import { useInstallation } from './installation';
import { Loaded } from './loaded';
import { NewCodes } from './new-codes';
import { type AccountCardProps, focusPanel, Panel } from './panel';

const id = 'recovery-codes';

interface RecoveryProps {
  readonly left: number;
  readonly createdAt: Date | null;
}

/** Recovery codes replace the authenticator or the mailbox once each. New codes are shown here and never again. */
export function RecoveryCard({ me, onChanged }: AccountCardProps): ReactNode {
  const { t } = useSpeech();
  const { recovery: texts } = t.account;
  const { codesNotAsked } = useTexts();
  const { mfa } = useInstallation();
  const [codes, setCodes] = useState<readonly string[]>();
  const make = useTask(async () => {
    setCodes(await auth.withFreshLogin(() => auth.makeRecoveryCodes()));
    focusPanel(id);
  });
  return (
    <Panel id={id} title={texts.title}>
      {codes !== undefined ? (
        <NewCodes
          codes={codes}
          loginName={me.login_name}
          onDone={() => {
            setCodes(undefined);
            onChanged();
            focusPanel(id);
          }}
        />
      ) : (
        <>
          <p className="note">{inARow(texts.intro, mfa === 'never' ? codesNotAsked : undefined)}</p>
          <Loaded load={() => auth.recoveryCodes()}>
            {(had) => (
              <>
                <Left {...had} needed={isAsked(mfa, me)} />
                <Failure error={make.error} />
                <Make had={had} busy={make.busy} make={() => void make.run()} />
              </>
            )}
          </Loaded>
        </>
      )}
    </Panel>
  );
}

/** Warns a user who is asked for codes and has few or no recovery codes for the day on which the usual ones are lost. */
function Left({ left, createdAt, needed }: RecoveryProps & { readonly needed: boolean }): ReactNode {
  const { t, language } = useSpeech();
  const { recovery: texts } = t.account;
  const text =
    left === 0 || createdAt === null
      ? texts.none
      : fill(texts.left, { count: left, date: moment(language, createdAt) });
  const warn = left === 0 ? needed : left <= fewCodes;
  return warn ? <Message kind="warning">{inARow(text, texts.warning)}</Message> : <p>{text}</p>;
}

interface MakeProps {
  readonly had: RecoveryProps;
  readonly busy: boolean;
  readonly make: () => void;
}

/** Asks before codes are replaced that still work. */
function Make({ had: { left }, busy, make }: MakeProps): ReactNode {
  const { t } = useSpeech();
  const { recovery: texts } = t.account;
  const [asking, setAsking] = useState(false);
  if (!asking)
    return (
      <button type="button" className="secondary" aria-busy={busy} onClick={left === 0 ? make : () => setAsking(true)}>
        {left === 0 ? texts.make : texts.replace}
      </button>
    );
  return (
    <>
      <p role="status">{fill(texts.ask, { count: left })}</p>
      <ConfirmActions
        label={texts.replace}
        busy={busy}
        onConfirm={make}
        onCancel={() => {
          setAsking(false);
          focusPanel(id);
        }}
      />
    </>
  );
}
