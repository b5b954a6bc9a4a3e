import { type ReactNode, useState } from 'react';
import { auth } from '../auth';
import { Failure, Message } from '../components/message';
import { fill, useSpeech } from '../i18n/texts';
import { useTask } from '../use-task';
import { deviceName } from './device-name';
import { EndButton } from './end-button';
import { DeviceEntry, Time } from './entry';
import { useTexts } from './i18n/texts';
import { Loaded } from './loaded';
import { type Done, NotMe } from './not-me';
import { NotMeDone } from './not-me-done';
import { type AccountCardProps, focusPanel, Panel } from './panel';

const id = 'sessions';
type Session = Awaited<ReturnType<typeof auth.sessions>>[number];

/** The sessions of the user, with buttons that end one of them, or all except the one of this browser. */
export function SessionsCard({ me, onChanged }: AccountCardProps): ReactNode {
  const { sessions: texts } = useTexts();
  return (
    <Panel id={id} title={texts.title}>
      <Loaded load={() => auth.sessions()}>
        {(sessions, reload) => <Sessions me={me} onChanged={onChanged} sessions={sessions} reload={reload} />}
      </Loaded>
    </Panel>
  );
}

interface SessionsProps extends AccountCardProps {
  readonly sessions: readonly Session[];
  readonly reload: () => Promise<boolean>;
}

function Sessions({ me, onChanged, sessions, reload }: SessionsProps): ReactNode {
  const { t } = useSpeech();
  const { notMe, sessions: texts } = useTexts();
  const [done, setDone] = useState<string>();
  const [strange, setStrange] = useState<Session>();
  const [stopped, setStopped] = useState<Done>();
  const finished = async (text: string) => {
    await reload();
    setStopped(undefined);
    setDone(text);
    focusPanel(id);
  };
  const others = useTask(async () => {
    setDone(undefined);
    const count = await auth.endOtherSessions();
    await finished(fill(texts.endedOthers, { count }));
  });
  const mine = [...sessions].sort((a, b) => Number(b.current) - Number(a.current));
  return (
    <>
      {done !== undefined && <Message kind="success">{done}</Message>}
      {stopped !== undefined && <NotMeDone done={stopped} me={me} />}
      {strange !== undefined && (
        <NotMe
          me={me}
          reached="gotIn"
          onClose={(ended) => {
            setStrange(undefined);
            if (ended === undefined) return;
            setDone(undefined);
            onChanged();
            void reload().then(() => setStopped(ended));
          }}
        >
          <ul className="entries">
            <DeviceEntry
              userAgent={strange.userAgent}
              facts={[<Time text={texts.since} at={strange.createdAt} />, strange.ip]}
            />
          </ul>
        </NotMe>
      )}
      <ul className="entries">
        {mine.map((one) => (
          <DeviceEntry
            key={one.sid}
            userAgent={one.userAgent}
            badge={one.current && <span className="badge">{texts.current}</span>}
            facts={[
              <Time text={texts.since} at={one.createdAt} />,
              one.lastUsedAt && <Time text={texts.used} at={one.lastUsedAt} />,
              one.ip,
            ]}
            action={
              !one.current && (
                <div className="entry-action row">
                  <button
                    type="button"
                    className="link small-link"
                    aria-label={`${notMe.open}: ${deviceName(one.userAgent, t)}`}
                    onClick={() => setStrange(one)}
                  >
                    {notMe.open}
                  </button>
                  <EndButton
                    label={texts.end}
                    describes={deviceName(one.userAgent, t)}
                    end={() => auth.endSession(one.sid)}
                    onEnded={() => void finished(texts.ended)}
                  />
                </div>
              )
            }
          />
        ))}
      </ul>
      <Failure error={others.error} />
      {sessions.length > 1 ? (
        <button type="button" className="secondary" aria-busy={others.busy} onClick={() => void others.run()}>
          {texts.endOthers}
        </button>
      ) : (
        <p className="note">{texts.only}</p>
      )}
    </>
  );
}
