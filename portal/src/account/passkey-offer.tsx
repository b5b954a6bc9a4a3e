import { type ReactNode, useState } from 'react';
import type { MeResponse } from '@portal-auth/sdk';
import { auth } from '../auth';
import { PasskeyFailure } from '../components/passkey-failure';
import { useSpeech } from '../i18n/texts';
import { usePasskeySupport } from '../passkey-support';
import { remember, remembered } from '../preferences';
import { useTask } from '../use-task';
import { deviceName } from './device-name';
import { focusTitle } from './panel';

const key = 'portal.passkey-offer';

interface PasskeyOfferProps {
  readonly me: MeResponse;
  readonly onMade: (name: string) => void;
}

/**
 * Offers a passkey: to a user who has none, and whose device can keep one. The user
 * can decline for this login, or for good in this browser.
 */
export function PasskeyOffer({ me, onMade }: PasskeyOfferProps): ReactNode {
  const { platform } = usePasskeySupport();
  const [open, setOpen] = useState(() => !isDeclined());
  const shown = open && platform && me.passkeys === 0;
  if (!shown) return null;
  const close = () => {
    setOpen(false);
    focusTitle();
  };
  return (
    <Offer
      onMade={(name) => {
        setOpen(false);
        onMade(name);
      }}
      onLater={close}
      onNever={() => {
        remember(key, 'never');
        close();
      }}
    />
  );
}

const isDeclined = (): boolean => remembered(key, ['never']) !== undefined;

interface OfferProps {
  readonly onMade: (name: string) => void;
  readonly onLater: () => void;
  readonly onNever: () => void;
}

function Offer({ onMade, onLater, onNever }: OfferProps): ReactNode {
  const { t } = useSpeech();
  const { offer: texts, passkeys } = t.account;
  const make = useTask(async () => {
    const name = deviceName(navigator.userAgent, t);
    onMade((await auth.withFreshLogin(() => auth.registerPasskey(name))).name);
  });
  return (
    <section className="panel offer" aria-labelledby="passkey-offer">
      <h2 id="passkey-offer">{texts.title}</h2>
      <p>{texts.text}</p>
      <PasskeyFailure error={make.error} cancelled={passkeys.cancelled} />
      <div className="actions start">
        <button type="button" className="primary" aria-busy={make.busy} onClick={() => void make.run()}>
          {make.busy ? passkeys.busy : texts.make}
        </button>
        <button type="button" className="secondary" onClick={onLater}>
          {texts.later}
        </button>
        <button type="button" className="secondary" onClick={onNever}>
          {texts.never}
        </button>
      </div>
    </section>
  );
}
