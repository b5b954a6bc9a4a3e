import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { deviceName } from '../account/device-name';
import type { MissingFactors } from '../account/advice';
import { auth } from '../auth';
import { Message } from '../components/message';
import { Page } from '../components/page';
import { PasskeyFailure } from '../components/passkey-failure';
import { fill, inARow, useSpeech } from '../i18n/texts';
import { paths } from '../paths';
import { useTask } from '../use-task';

interface FactorStepProps extends Pick<MissingFactors, 'factors' | 'required'> {
  /** Another step follows. */
  readonly many: boolean;
  readonly onMade: (text: string) => void;
  readonly onLater: () => void;
  readonly children: ReactNode;
}

/** Offers a passkey where this browser can keep one, and an authenticator where a sign-in asks for its code. */
export function FactorStep({ factors, required, many, onMade, onLater, children }: FactorStepProps): ReactNode {
  const { t } = useSpeech();
  const { welcome: texts } = t;
  const intro = inARow(texts.intro, many ? texts.two : undefined);
  return (
    <Page title={texts.title} intro={intro}>
      {required && <Message kind="warning">{texts.required}</Message>}
      {factors.includes('passkey') && <PasskeyOption onMade={onMade} />}
      {factors.includes('authenticator') && (
        <section className="panel" aria-labelledby="offer-authenticator">
          <h2 id="offer-authenticator">{t.account.authenticator}</h2>
          <p>{texts.authenticator}</p>
          <Link className={factors.length > 1 ? 'secondary' : 'primary'} href={paths.totp}>
            {t.account.totpSetUp}
          </Link>
        </section>
      )}
      {!required && (
        <>
          <p className="note">{texts.skippable}</p>
          <button type="button" className="secondary" onClick={onLater}>
            {t.account.offer.later}
          </button>
        </>
      )}
      {children}
    </Page>
  );
}

function PasskeyOption({ onMade }: Pick<FactorStepProps, 'onMade'>): ReactNode {
  const { t } = useSpeech();
  const { offer: texts, passkeys } = t.account;
  const make = useTask(async () => {
    const called = deviceName(navigator.userAgent, t);
    const { name } = await auth.withFreshLogin(() => auth.registerPasskey(called));
    onMade(fill(passkeys.added, { name }));
  });
  return (
    <section className="panel offer" aria-labelledby="offer-passkey">
      <h2 id="offer-passkey">{t.welcome.passkey}</h2>
      <p>{texts.text}</p>
      <PasskeyFailure error={make.error} cancelled={passkeys.cancelled} />
      <button type="button" className="primary" aria-busy={make.busy} onClick={() => void make.run()}>
        {make.busy ? passkeys.busy : texts.make}
      </button>
    </section>
  );
}
