import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { MeResponse } from '@portal-auth/sdk';
import { auth } from '../auth';
import { useSpeech } from '../i18n/texts';
import { target } from '../tab-memory';
import { mayLeave } from '../unsaved';
import { useTask } from '../use-task';
import { useTexts } from './i18n/texts';
import { Clock, Monitor, Person, Shield } from './icons';
import { type SectionName, sections } from './sections';

const icons: Readonly<Record<SectionName, ReactNode>> = {
  profile: <Person />,
  security: <Shield />,
  devices: <Monitor />,
  activity: <Clock />,
};

interface SideProps {
  readonly me: MeResponse | undefined;
  readonly current: SectionName;
}

/** Who is signed in, and the way to the sections: beside the section, or above it on a narrow screen. */
export function Side({ me, current }: SideProps): ReactNode {
  const { t } = useSpeech();
  const texts = useTexts();
  const logout = useTask(async () => {
    await auth.logout();
    // The next user of this tab starts at the first page, and not at the section that this one has left.
    target.set(undefined);
  });
  const name = me?.nickname ?? me?.login_name;
  return (
    <div className="account-side">
      <div className="who">
        <span className="who-letter" aria-hidden="true">
          {[...(name ?? '')][0]?.toLocaleUpperCase()}
        </span>
        <p className="who-name">
          <b>{name}</b>
          {me !== undefined && name !== me.login_name && <span className="note">{me.login_name}</span>}
        </p>
        <button
          type="button"
          className="secondary small"
          disabled={logout.busy}
          onClick={() => mayLeave() && void logout.run()}
        >
          {t.account.logout}
        </button>
      </div>
      <nav aria-label={t.account.title}>
        <ul>
          {sections.map((one) => (
            <li key={one.name}>
              <Link href={one.path} aria-current={one.name === current ? 'page' : undefined}>
                {icons[one.name]}
                <span>{texts.sections[one.name]}</span>
              </Link>
            </li>
          ))}
        </ul>
      </nav>
    </div>
  );
}
