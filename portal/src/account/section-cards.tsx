import type { ReactNode } from 'react';
import { fill, useSpeech } from '../i18n/texts';
import { issuerUrl } from '../page-settings';
import { BelowApplications } from './applications';
import { DetailsCard } from './details-card';
import { DevicesCard } from './devices-card';
import { GrantsCard } from './grants-card';
import { useTexts } from './i18n/texts';
import { useInstallation } from './installation';
import { LoginsCard } from './logins-card';
import { type AccountCardProps, Panel } from './panel';
import { PasskeysCard } from './passkeys-card';
import { PasswordCard } from './password-card';
import { useProvider } from './provider';
import { RecoveryCard } from './recovery-card';
import type { SectionName } from './sections';
import { SecondFactorCard } from './second-factor-card';
import { SecurityCheck, ShortCheck } from './security-check';
import { SessionsCard } from './sessions-card';

/** The cards of each section. Each card loads its own data, so a section loads only what it shows. */
export const cards: Readonly<Record<SectionName, (props: AccountCardProps) => ReactNode>> = {
  profile: Profile,
  security: Security,
  devices: Devices,
  activity: LoginsCard,
};

function Profile({ me }: AccountCardProps): ReactNode {
  return (
    <BelowApplications>
      <ShortCheck me={me} />
      <DetailsCard me={me} />
    </BelowApplications>
  );
}

function Security({ me, onChanged }: AccountCardProps): ReactNode {
  const { passkeys } = useInstallation();
  return (
    <>
      <SecurityCheck me={me} />
      <OwnPassword me={me} onChanged={onChanged} />
      <SecondFactorCard me={me} />
      {passkeys && me.identity_provider == null && <PasskeysCard onChanged={onChanged} />}
      <RecoveryCard me={me} onChanged={onChanged} />
      {issuerUrl !== '' && <GrantsCard />}
    </>
  );
}

/** The password of a company account is changed where it belongs to. */
function OwnPassword({ me, onChanged }: AccountCardProps): ReactNode {
  const { t } = useSpeech();
  const { ownPassword: texts } = t.account;
  const { signIn } = useTexts();
  const provider = useProvider(me);
  const name = me.identity_provider_name ?? undefined;
  if (provider === 'password' || provider === 'unknown') return <PasswordCard me={me} onChanged={onChanged} />;
  return (
    <Panel id="password" title={name === undefined ? texts.title : signIn.title}>
      {name === undefined ? (
        <p className="note">{provider === undefined ? t.account.loading : texts.elsewhere}</p>
      ) : (
        <>
          <p>{fill(signIn.at, { name })}</p>
          <p className="note">{fill(signIn.password, { name })}</p>
        </>
      )}
    </Panel>
  );
}

/** A trusted device matters only where a sign-in asks for codes. */
function Devices({ me, onChanged }: AccountCardProps): ReactNode {
  const { trusted_device_days: trustDays, mfa } = useInstallation();
  return (
    <>
      <SessionsCard me={me} onChanged={onChanged} />
      {trustDays > 0 && mfa !== 'never' && <DevicesCard />}
    </>
  );
}
