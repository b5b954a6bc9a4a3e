import { type ReactNode, useState } from 'react';
import type { AdminSetting } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { MailForm } from '../parts/mail-form';
import { MailTest } from '../parts/mail-test';
import { PageHead } from '../parts/page-head';
import { ErrorState, LoadingState } from '../parts/states';
import { say } from '../toasts';
import { useLoaded } from '../use-loaded';
import { useViewer } from '../viewer';

/** The mail server: its settings, and a test that shows what the server said. */
export function MailSettingsPage(): ReactNode {
  const { mail: texts } = useTexts();
  const { writes } = useViewer();
  const { value, error, reload } = useLoaded((signal) => admin.settings({ signal }));
  const [saves, setSaves] = useState(0);
  const settings: readonly AdminSetting[] | undefined = value?.filter(({ group }) => group === 'SMTP');
  return (
    <>
      <PageHead title={texts.title} intro={texts.intro} />
      <div className="narrow">
        <ErrorState error={error} retry={reload} />
        {settings === undefined && error === undefined && <LoadingState lines={8} />}
        {settings !== undefined && (
          <fieldset className="read-only" disabled={!writes}>
            <MailForm
              key={`${saves} ${JSON.stringify(settings)}`}
              settings={settings}
              onSaved={() => {
                say(texts.saved);
                setSaves((count) => count + 1);
                reload();
              }}
            />
            {writes && <MailTest />}
          </fieldset>
        )}
      </div>
    </>
  );
}
