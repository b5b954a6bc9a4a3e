import { type ReactNode, useState } from 'react';
import { auth } from '../auth';
import { useSpeech } from '../i18n/texts';
import { DeviceEntry, Time } from './entry';
import { Loaded } from './loaded';
import { Panel } from './panel';

const shownFirst = 5;
const shownAtMost = 20;

/** The last logins, also the refused ones, so that the user notices somebody else. */
export function LoginsCard(): ReactNode {
  const { t } = useSpeech();
  const { logins: texts } = t.account;
  const [all, setAll] = useState(false);
  return (
    <Panel id="logins" title={texts.title}>
      <p className="note">{texts.intro}</p>
      <Loaded load={() => auth.loginHistory(shownAtMost)}>
        {(logins) => (
          <>
            {logins.length === 0 && <p>{texts.none}</p>}
            <ul className="entries">
              {logins.slice(0, all ? shownAtMost : shownFirst).map((one, index) => (
                <DeviceEntry
                  key={index}
                  userAgent={one.userAgent}
                  badge={<Outcome outcome={one.outcome} />}
                  facts={[<Time at={one.createdAt} />, one.ip]}
                />
              ))}
            </ul>
            {!all && logins.length > shownFirst && (
              <button type="button" className="secondary small" onClick={() => setAll(true)}>
                {texts.all}
              </button>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function Outcome({ outcome }: { readonly outcome: string }): ReactNode {
  const { t } = useSpeech();
  const { success, refused, reasons } = t.account.logins;
  if (outcome === 'success') return <span className="badge good">{success}</span>;
  const known = Object.entries(reasons).find(([code]) => code === outcome);
  return <span className="badge bad">{known?.[1] ?? refused}</span>;
}
