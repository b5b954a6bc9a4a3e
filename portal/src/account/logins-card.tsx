import { type ReactNode, useState } from 'react';
import { auth } from '../auth';
import { useSpeech } from '../i18n/texts';
import { deviceName } from './device-name';
import { DeviceEntry, Time } from './entry';
import { useTexts } from './i18n/texts';
import { Loaded } from './loaded';
import { type Done, NotMe, type Reached } from './not-me';
import { NotMeDone } from './not-me-done';
import { type AccountCardProps, Panel } from './panel';

const shownFirst = 5;
const shownAtMost = 20;

type Login = Awaited<ReturnType<typeof auth.loginHistory>>[number];

/** The last logins, also the refused ones, so that the user notices somebody else. */
export function LoginsCard({ me, onChanged }: AccountCardProps): ReactNode {
  const { logins: texts } = useTexts();
  return (
    <Panel id="logins" title={texts.title}>
      <Loaded load={() => auth.loginHistory(shownAtMost)}>
        {(logins) =>
          logins.length === 0 ? (
            <p className="note">{texts.none}</p>
          ) : (
            <Logins me={me} onChanged={onChanged} logins={logins} />
          )
        }
      </Loaded>
    </Panel>
  );
}

interface LoginsProps extends AccountCardProps {
  readonly logins: readonly Login[];
}

function Logins({ me, onChanged, logins }: LoginsProps): ReactNode {
  const { t } = useSpeech();
  const { logins: texts, notMe } = useTexts();
  const [all, setAll] = useState(false);
  const [strange, setStrange] = useState<Login>();
  const [stopped, setStopped] = useState<Done>();
  return (
    <>
      <p className="note">{texts.intro}</p>
      {stopped !== undefined && <NotMeDone done={stopped} me={me} />}
      {strange !== undefined && (
        <NotMe
          me={me}
          reached={reachedBy(strange)}
          onClose={(ended) => {
            setStrange(undefined);
            if (ended === undefined) return;
            onChanged();
            setStopped(ended);
          }}
        >
          <ul className="entries">
            <LoginEntry login={strange} />
          </ul>
        </NotMe>
      )}
      <ul className="entries">
        {logins.slice(0, all ? shownAtMost : shownFirst).map((one, index) => (
          <LoginEntry
            key={index}
            login={one}
            action={
              <div className="entry-action">
                <button
                  type="button"
                  className="link small-link"
                  aria-label={`${notMe.open}: ${deviceName(one.userAgent, t)}`}
                  onClick={() => setStrange(one)}
                >
                  {notMe.open}
                </button>
              </div>
            }
          />
        ))}
      </ul>
      {!all && logins.length > shownFirst && (
        <button type="button" className="secondary small" onClick={() => setAll(true)}>
          {texts.all}
        </button>
      )}
    </>
  );
}

function LoginEntry({ login, action }: { readonly login: Login; readonly action?: ReactNode }): ReactNode {
  return (
    <DeviceEntry
      userAgent={login.userAgent}
      badge={<Outcome outcome={login.outcome} />}
      facts={[<Time at={login.createdAt} />, login.ip]}
      action={action}
    />
  );
}

/** A code is asked for only after the right password. */
function reachedBy({ outcome }: Login): Reached {
  if (outcome === 'success') return 'gotIn';
  return outcome === 'MFA_401001' || outcome === 'AUTH_MFA_401001' ? 'knewPassword' : 'refused';
}

function Outcome({ outcome }: { readonly outcome: string }): ReactNode {
  const { success, refused, reasons } = useTexts().logins;
  if (outcome === 'success') return <span className="badge good">{success}</span>;
  const known = Object.entries(reasons).find(([code]) => code === outcome);
  return <span className="badge bad">{known?.[1] ?? refused}</span>;
}
