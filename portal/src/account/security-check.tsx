import type { MouseEvent, ReactNode } from 'react';
import { Link } from 'wouter';
import type { MeResponse } from '@portal-auth/sdk';
import { Check, Warning } from '../components/icons';
import { fill } from '../i18n/texts';
import { paths } from '../paths';
import { useServiceTime } from '../service-time';
import { type Advice, adviceFor } from './advice';
import { Time } from './entry';
import { useTexts } from './i18n/texts';
import { useInstallation } from './installation';
import { focusPanel, Panel } from './panel';

/** Says what is missing for the safety of the account, with the way to do it. */
export function SecurityCheck({ me }: { readonly me: MeResponse }): ReactNode {
  const { check: texts } = useTexts();
  const advice = useAdvice(me);
  return (
    <Panel id="check" title={texts.title}>
      {advice.length === 0 ? (
        <Well />
      ) : (
        <ul className="advice">
          {advice.map((one) => (
            <li key={one}>
              <Warning />
              <p>
                <Words advice={one} me={me} />
              </p>
              <div className="advice-actions">
                <Actions advice={one} />
              </div>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** The result of the check in one line, for the first section. */
export function ShortCheck({ me }: { readonly me: MeResponse }): ReactNode {
  const { check: texts } = useTexts();
  const { length: count } = useAdvice(me);
  return (
    <Panel id="check" title={texts.title}>
      {count === 0 ? (
        <Well />
      ) : (
        <div className="advice-line">
          <Warning />
          <p>{count === 1 ? texts.open.one : fill(texts.open.more, { count })}</p>
          <div className="advice-actions">
            <Link className="secondary small" href={paths.security}>
              {texts.review}
            </Link>
          </div>
        </div>
      )}
    </Panel>
  );
}

function useAdvice(me: MeResponse): Advice[] {
  return adviceFor(me, useInstallation(), useServiceTime());
}

function Well(): ReactNode {
  const { check: texts } = useTexts();
  return (
    <p className="advice-line well">
      <Check />
      <span>{texts.well}</span>
    </p>
  );
}

interface WordsProps {
  readonly advice: Advice;
  readonly me: MeResponse;
}

function Words({ advice, me }: WordsProps): ReactNode {
  const { check: texts } = useTexts();
  const { passkeys } = useInstallation();
  switch (advice) {
    case 'passwordExpires':
      return <Time text={texts.passwordExpires} at={new Date(me.password_expires_at ?? 0)} />;
    case 'mailedCodes':
      return passkeys ? texts.mailedCodesOrPasskey : texts.mailedCodes;
    case 'fewCodes':
      return fill(texts.fewCodes, { count: me.recovery_codes_left });
    default:
      return texts[advice];
  }
}

function Actions({ advice }: { readonly advice: Advice }): ReactNode {
  const { check: texts } = useTexts();
  const { passkeys } = useInstallation();
  switch (advice) {
    case 'passwordExpires':
      return <ToCard card="password" text={texts.changePassword} />;
    case 'passwordAlone':
      return <SetUp />;
    case 'mailedCodes':
      return (
        <>
          <SetUp />
          {passkeys && <ToCard card="passkeys" text={texts.addPasskey} />}
        </>
      );
    case 'noPasskey':
      return <ToCard card="passkeys" text={texts.addPasskey} />;
    case 'noCodes':
    case 'fewCodes':
      return <ToCard card="recovery-codes" text={texts.makeCodes} />;
  }
}

function SetUp(): ReactNode {
  const { check: texts } = useTexts();
  return (
    <Link className="secondary small" href={paths.totp}>
      {texts.setUp}
    </Link>
  );
}

interface ToCardProps {
  readonly card: string;
  readonly text: string;
  readonly className?: string;
}

/** A link to a card of the section Security. On that section it is a step to the card, and no new page. */
export function ToCard({ card, text, className = 'secondary small' }: ToCardProps): ReactNode {
  const step = (event: MouseEvent) => {
    if (document.getElementById(card) === null) return;
    event.preventDefault();
    focusPanel(card);
  };
  return (
    <Link className={className} href={`${paths.security}#${card}`} onClick={step}>
      {text}
    </Link>
  );
}
