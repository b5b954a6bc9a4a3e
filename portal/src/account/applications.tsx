import { type ReactNode, useEffect, useState } from 'react';
import { ApplicationLogo } from '../applications/application-logo';
import { TextsProvider, useTexts } from '../applications/i18n/texts';
import { type Application, applications } from '../applications/service';
import { Failure } from '../components/message';
import { useSpeech } from '../i18n/texts';
import { issuerUrl } from '../page-settings';
import { useTask } from '../use-task';
import { Panel } from './panel';

interface BelowApplicationsProps {
  readonly children: ReactNode;
}

/** A tile for each application that the user may open, and then the other cards, which do not move when the tiles arrive. */
export function BelowApplications({ children }: BelowApplicationsProps): ReactNode {
  if (issuerUrl === '') return children;
  return (
    <TextsProvider>
      <Tiles>{children}</Tiles>
    </TextsProvider>
  );
}

function Tiles({ children }: BelowApplicationsProps): ReactNode {
  const { t } = useSpeech();
  const texts = useTexts();
  const [all, setAll] = useState<readonly Application[]>();
  const { error, run } = useTask(async () => setAll(await applications()));
  useEffect(() => void run(), [run]);
  if (all === undefined && error === undefined) return <p role="status">{t.account.loading}</p>;
  const openable = all?.filter(({ uri }) => uri !== null) ?? [];
  return (
    <>
      {(openable.length > 0 || error !== undefined) && (
        <Panel id="applications" title={texts.tiles}>
          <Failure error={error} />
          <ul className="tiles">
            {openable.map((one) => (
              <li key={one.id}>
                <a className="tile" href={one.uri ?? undefined}>
                  <ApplicationLogo application={one} />
                  <span>{one.name}</span>
                </a>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {children}
    </>
  );
}
