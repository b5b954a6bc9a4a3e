import { type ReactNode, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { MeResponse } from '@portal-auth/sdk';
import { type MissingFactors, missingFactors } from '../account/advice';
import { auth } from '../auth';
import { Failure } from '../components/message';
import { Page } from '../components/page';
import { useSpeech } from '../i18n/texts';
import { useOffer } from '../offer';
import { paths } from '../paths';
import { remember, remembered } from '../preferences';
import { passwordLogin, target } from '../tab-memory';
import { useTask } from '../use-task';
import { CodesStep } from '../welcome/codes-step';
import { FactorStep } from '../welcome/factor-step';
import { Way } from '../welcome/way';
import '../styles/account.css';

const key = 'portal.passkey-offer';

interface Found extends MissingFactors {
  readonly me: MeResponse;
}

/**
 * After a sign-in with a password: offers a passkey or an authenticator, and then recovery codes, to a user who lacks
 * them. Then, or when nothing is missing, the user goes on to the page that was wanted.
 */
export function WelcomePage(): ReactNode {
  const { t } = useSpeech();
  const offer = useOffer();
  const [, navigate] = useLocation();
  const [found, setFound] = useState<Found>();
  // The message about the authenticator that was set up, on the way back from its page.
  const [done, setDone] = useState(() => (history.state === 'confirmed' ? t.account.confirmed : undefined));
  useEffect(() => {
    if (history.state === 'confirmed') history.replaceState(null, '');
  }, []);
  const [factorOver, setFactorOver] = useState(false);

  const goOn = () => {
    passwordLogin.set(undefined);
    // The login page sends a user who is signed in to the wanted page.
    navigate(paths.login, { replace: true });
  };
  const look = useTask(async () => {
    if (done === undefined && mayPass()) return goOn();
    const [me, keepsPasskeys] = await Promise.all([auth.me(), canKeepPasskeys(offer.passkeys)]);
    const missing = missingFactors(offer.mfa, me, keepsPasskeys && me.identity_provider == null);
    const asked = missing.required || !isDeclined();
    if (done !== undefined || (asked && (missing.factors.length > 0 || missing.codes))) setFound({ me, ...missing });
    else goOn();
  });
  const { run } = look;
  useEffect(() => void run(), [run]);

  /** Nothing that this page could find would be asked of the user now. */
  const mayPass = (): boolean =>
    isReturning() || (offer.mfa !== 'always' && (isDeclined() || (offer.mfa === 'never' && !offer.passkeys)));

  if (look.error !== undefined) {
    return (
      <Page title={t.welcome.title}>
        <Failure error={look.error} />
        <button type="button" className="primary" onClick={goOn}>
          {t.welcome.goOn}
        </button>
      </Page>
    );
  }
  if (found === undefined) return null;
  const { me, factors, codes, required } = found;
  const step = !factorOver && factors.length > 0 ? 'factor' : codes ? 'codes' : 'end';
  const count = Number(factors.length > 0) + Number(codes);
  const never = () => {
    remember(key, 'never');
    goOn();
  };
  const way = <Way me={me} onNever={required ? undefined : never} />;
  if (step === 'factor') {
    return (
      <FactorStep
        factors={factors}
        required={required}
        many={count > 1}
        onMade={(text) => {
          setDone(text);
          setFactorOver(true);
        }}
        onLater={() => (codes ? setFactorOver(true) : goOn())}
      >
        {way}
      </FactorStep>
    );
  }
  return (
    <CodesStep me={me} offered={step === 'codes'} done={done} onEnd={goOn}>
      {way}
    </CodesStep>
  );
}

const isDeclined = (): boolean => remembered(key, ['never']) !== undefined;

/** The user has signed in again for a card of the account page or of the console, and comes back to it. */
const isReturning = (): boolean => /^\/(account|admin)#./.test(target.get() ?? '');

/** The code for passkeys may not load. The page works without it. */
const canKeepPasskeys = async (offered: boolean): Promise<boolean> =>
  offered && (await auth.passkeySupport().catch(() => undefined))?.platform === true;
