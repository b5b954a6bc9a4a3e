import type { ReactNode } from 'react';
import { Mail } from '../components/icons';
import { issuerUrl } from '../page-settings';
import { useTexts } from './i18n/texts';
import { Apps, Building, Chart, Key, List, People, Send, Shield } from './parts/icons';
import { hrefOf, usePlace } from './place';
import type { Viewer } from './viewer';

export function Navigation({ viewer: { me, root } }: { readonly viewer: Viewer }): ReactNode {
  const { nav } = useTexts();
  const ownTenant = `/tenants/${encodeURIComponent(me.tenant_id ?? '')}`;
  return (
    <nav aria-label={nav.label}>
      <ul>
        <Item path="/" icon={<Chart />} text={nav.overview} exact />
        <Item path="/users" icon={<People />} text={nav.users} />
        {root ? (
          <Item path="/tenants" icon={<Building />} text={nav.tenants} />
        ) : (
          <Item path={ownTenant} icon={<Building />} text={nav.units} />
        )}
        {root && issuerUrl !== '' && <Item path="/applications" icon={<Apps />} text={nav.applications} />}
      </ul>
      <p className="nav-group" id="nav-logs">
        {nav.logs}
      </p>
      <ul aria-labelledby="nav-logs">
        <Item path="/logins" icon={<Key />} text={nav.logins} />
        <Item path="/audit" icon={<List />} text={nav.audit} />
        {root && <Item path="/mails" icon={<Mail />} text={nav.mails} />}
        {root && <Item path="/events" icon={<Send />} text={nav.events} />}
      </ul>
      {root && (
        <>
          <p className="nav-group" id="nav-settings">
            {nav.settings}
          </p>
          <ul aria-labelledby="nav-settings">
            <Item path="/settings/password" icon={<Shield />} text={nav.policy} />
            <Item path="/settings/mail" icon={<Send />} text={nav.mailSettings} />
          </ul>
        </>
      )}
    </nav>
  );
}

interface ItemProps {
  readonly path: string;
  readonly icon: ReactNode;
  readonly text: string;
  readonly exact?: boolean;
}

function Item({ path, icon, text, exact = false }: ItemProps): ReactNode {
  const { path: here } = usePlace();
  const current = here === path ? 'page' : !exact && here.startsWith(`${path}/`) ? 'true' : undefined;
  return (
    <li>
      <a className="nav-item" href={hrefOf(path)} aria-current={current}>
        {icon}
        {text}
      </a>
    </li>
  );
}
