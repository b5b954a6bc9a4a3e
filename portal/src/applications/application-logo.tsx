import { type ReactNode, useState } from 'react';
import type { Application } from './service';
import '../styles/applications.css';

interface ApplicationLogoProps {
  readonly application: Application;
  readonly large?: boolean;
}

/** The logo, or the first letter of the name. The name always stands beside it, so a screen reader skips it. */
export function ApplicationLogo({
  application: { name, logo_url: url },
  large = false,
}: ApplicationLogoProps): ReactNode {
  const [broken, setBroken] = useState(false);
  const picture = url !== null && !broken;
  const looks = ['app-logo', large && 'large', picture && 'plate'].filter(Boolean).join(' ');
  return (
    <span className={looks} aria-hidden="true">
      {picture ? (
        <img src={url} alt="" referrerPolicy="no-referrer" onError={() => setBroken(true)} />
      ) : (
        [...name][0]?.toLocaleUpperCase()
      )}
    </span>
  );
}
