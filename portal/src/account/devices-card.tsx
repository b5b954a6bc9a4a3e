import { type ReactNode, useState } from 'react';
import { auth } from '../auth';
import { Message } from '../components/message';
import { fill, useSpeech } from '../i18n/texts';
import { useOffer } from '../offer';
import { deviceName } from './device-name';
import { EndButton } from './end-button';
import { DeviceEntry, Time } from './entry';
import { useTexts } from './i18n/texts';
import { Loaded } from './loaded';
import { focusPanel, Panel } from './panel';

const id = 'devices';

/** The devices that log in without a code. The page shows this card only if the service trusts devices. */
export function DevicesCard(): ReactNode {
  const { t } = useSpeech();
  const { trusted_device_days: days } = useOffer();
  const { devices: texts } = useTexts();
  const [ended, setEnded] = useState(false);
  return (
    <Panel id={id} title={texts.title}>
      {ended && <Message kind="success">{texts.ended}</Message>}
      <Loaded load={() => auth.trustedDevices()}>
        {(devices, reload) =>
          devices.length === 0 ? (
            <p className="note">{texts.none}</p>
          ) : (
            <>
              <p className="note">{fill(texts.intro, { days })}</p>
              <ul className="entries">
                {devices.map((one) => (
                  <DeviceEntry
                    key={one.id}
                    userAgent={one.userAgent}
                    facts={[
                      <Time text={texts.since} at={one.createdAt} />,
                      <Time text={texts.used} at={one.lastUsedAt} />,
                      one.ip,
                    ]}
                    action={
                      <EndButton
                        label={texts.end}
                        describes={deviceName(one.userAgent, t)}
                        end={() => auth.endTrustedDevice(one.id)}
                        onEnded={() =>
                          void reload().then(() => {
                            setEnded(true);
                            focusPanel(id);
                          })
                        }
                      />
                    }
                  />
                ))}
              </ul>
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}
