import { type ReactNode, useEffect, useState } from 'react';
import { auth } from '../auth';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { Support } from '../components/support';
import { type Arrival, leaveArrival, useArrival } from '../external/arrival';
import { TextsProvider, useTexts } from '../external/i18n/texts';
import { useRefusal } from '../external/refusal';
import { isTold } from '../external/told';
import { useProviderLogin, wentTo } from '../external/use-provider-login';
import { useOffer } from '../offer';
import { passwordLogin } from '../tab-memory';
import { useTask } from '../use-task';

/** Where an identity provider leads back to, with a code or with a refusal. */
export function ExternalPage(): ReactNode {
  const arrival = useArrival();
  return <TextsProvider>{arrival !== undefined && <Arrived arrival={arrival} />}</TextsProvider>;
}

function Arrived({ arrival }: { readonly arrival: Arrival }): ReactNode {
  const [told] = useState(() => isTold(arrival));
  if (told) return <Told />;
  return arrival.kind === 'code' ? <Complete code={arrival.code} /> : <Refused error={arrival.error} />;
}

/** Signs the user in with the code. Then the user goes on as after a sign-in with a password. */
function Complete({ code }: { readonly code: string }): ReactNode {
  const texts = useTexts();
  const { error, run } = useTask(async () => {
    await auth.completeExternal(code);
    passwordLogin.set('yes');
    wentTo.set(undefined);
    leaveArrival();
  });
  useEffect(() => void run(), [run]);
  if (error !== undefined) return <Refused error={error} />;
  return (
    <Page title={texts.busy}>
      <p className="heard" role="status">
        {texts.busy}
      </p>
    </Page>
  );
}

/** @param error a failure of the last step, or the error code of the address, which anybody can write */
function Refused({ error }: { readonly error: unknown }): ReactNode {
  const texts = useTexts();
  const login = useProviderLogin();
  const text = useRefusal(error);
  const provider = wentTo.get();
  const { support_url: support } = useOffer().brand;
  return (
    <Page title={texts.title}>
      {text === undefined ? <Failure error={error} /> : <Message kind="error">{text}</Message>}
      <Failure error={login.error} />
      {provider !== undefined && (
        <button
          type="button"
          className="primary"
          aria-busy={login.leaving !== undefined}
          onClick={() => void login.run(provider)}
        >
          {texts.again}
        </button>
      )}
      <button type="button" className={provider === undefined ? 'primary' : 'secondary'} onClick={leaveArrival}>
        {texts.otherWay}
      </button>
      {/* Without an address, the message itself names the administrator. */}
      {typeof support === 'string' && <Support />}
    </Page>
  );
}

/** The page that has opened this window goes on. Most browsers do not let a page close its window after a visit elsewhere. */
function Told(): ReactNode {
  const { told } = useTexts();
  useEffect(() => window.close(), []);
  return (
    <Page title={told.title}>
      <p>{told.text}</p>
    </Page>
  );
}
