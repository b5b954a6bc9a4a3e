import { type ReactNode, useState } from 'react';
import { ApplicationLogo } from '../applications/application-logo';
import { TextsProvider, useTexts } from '../applications/i18n/texts';
import { scopeText } from '../applications/scope-list';
import { codeOf, endGrant, type Grant, grants } from '../applications/service';
import { auth } from '../auth';
import { ConfirmActions } from '../components/form-actions';
import { Failure, Message } from '../components/message';
import { fill } from '../i18n/texts';
import { useTask } from '../use-task';
import { Entry, Time } from './entry';
import { Loaded } from './loaded';
import { focusPanel, Panel } from './panel';

const id = 'grants';

/** What the user has allowed applications of other companies, and its end. */
export function GrantsCard(): ReactNode {
  return (
    <TextsProvider>
      <Grants />
    </TextsProvider>
  );
}

function Grants(): ReactNode {
  const { grants: texts } = useTexts();
  const [ended, setEnded] = useState(false);
  return (
    <Panel id={id} title={texts.title}>
      {ended && <Message kind="success">{texts.ended}</Message>}
      <Loaded load={grants}>
        {(all, reload) =>
          all.length === 0 ? (
            <p className="note">{texts.none}</p>
          ) : (
            <>
              <p className="note">{texts.intro}</p>
              <ul className="entries">
                {all.map((one) => (
                  <GrantEntry
                    key={one.id}
                    grant={one}
                    onEnded={() =>
                      void reload().then(() => {
                        setEnded(true);
                        focusPanel(id);
                      })
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

interface GrantEntryProps {
  readonly grant: Grant;
  readonly onEnded: () => void;
}

function GrantEntry({ grant, onEnded }: GrantEntryProps): ReactNode {
  const texts = useTexts();
  const { application, scopes, created_at: since } = grant;
  const [asking, setAsking] = useState(false);
  // The button that has opened the question gets the focus back.
  const [asked, setAsked] = useState(false);
  return (
    <Entry
      icon={<ApplicationLogo application={application} />}
      name={application.name}
      facts={[
        <Time text={texts.grants.since} at={new Date(since)} />,
        ...scopes.filter((one) => one !== 'openid').map((one) => scopeText(texts, one)),
      ]}
      action={
        !asking && (
          <div className="entry-action">
            <button
              type="button"
              className="secondary small"
              aria-label={`${texts.grants.end}: ${application.name}`}
              autoFocus={asked}
              onClick={() => {
                setAsked(true);
                setAsking(true);
              }}
            >
              {texts.grants.end}
            </button>
          </div>
        )
      }
      more={asking ? <End grant={grant} onEnded={onEnded} onClose={() => setAsking(false)} /> : undefined}
    />
  );
}

/** Asks first. What has already ended elsewhere counts as ended. A button that is disabled would lose the focus. */
function End({ grant, onEnded, onClose }: GrantEntryProps & { readonly onClose: () => void }): ReactNode {
  const { grants: texts } = useTexts();
  const end = useTask(async () => {
    await auth
      .withFreshLogin(() => endGrant(grant.id))
      .catch((error: unknown) => {
        if (codeOf(error) !== 'APP_404001') throw error;
      });
    onEnded();
  });
  return (
    <>
      <p role="status">{fill(texts.ask, { name: grant.application.name })}</p>
      <Failure error={end.error} />
      <ConfirmActions label={texts.act} busy={end.busy} onConfirm={() => void end.run()} onCancel={onClose} />
    </>
  );
}
