import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { MeResponse } from '@portal-auth/sdk';
import { fill, inARow, useSpeech } from '../i18n/texts';
import { paths } from '../paths';
import { useTexts } from './i18n/texts';
import { useInstallation } from './installation';
import { Panel } from './panel';

/** How this login was confirmed, and the way to an authenticator. */
export function SecondFactorCard({ me }: { readonly me: MeResponse }): ReactNode {
  const { t, language } = useSpeech();
  const { amr } = t.account;
  const { factor: texts } = useTexts();
  const { mfa } = useInstallation();
  const asked = mfa === 'never' ? texts.notAsked : me.mfa_type === 'totp' ? texts.asked : undefined;
  // `user` and `mfa` only say more about the passkey beside them.
  const methods = me.session.amr.flatMap((name) => (name in amr ? [amr[name as keyof typeof amr]] : []));
  return (
    <Panel id="authenticator" title={t.account.authenticator}>
      <p>{inARow(secondFactor(me, t.account), asked)}</p>
      <p className="note">{fill(t.account.signedInWith, { methods: new Intl.ListFormat(language).format(methods) })}</p>
      <Link className="secondary" href={paths.totp}>
        {me.mfa_type === 'totp' ? t.account.totpReplace : t.account.totpSetUp}
      </Link>
    </Panel>
  );
}

/** Mentions mailed codes only if this login used one, because `mfa_type` is `email` even without a second factor. */
function secondFactor(me: MeResponse, texts: Readonly<Record<'totpOn' | 'mailed' | 'totpOff', string>>): string {
  if (me.mfa_type === 'totp') return texts.totpOn;
  return me.session.amr.includes('otp') ? texts.mailed : texts.totpOff;
}
