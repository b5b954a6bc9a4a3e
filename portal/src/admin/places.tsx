import type { ReactNode } from 'react';
import { Key as SignInKey, Mail } from '../components/icons';
import { issuerUrl } from '../page-settings';
import type { Texts } from './i18n/en';
import { Apps, Building, Chart, Groups, Key, List, Palette, People, Send, Shield } from './parts/icons';
import type { Viewer } from './viewer';

/** A page of the console that this viewer may see. */
export interface NavPlace {
  readonly path: string;
  readonly text: keyof Texts['nav'];
  readonly icon: ReactNode;
  /** The group of the navigation. Undefined: the first one, without a heading. */
  readonly group?: 'logs' | 'settings';
}

/** The pages of the console for this viewer, in the order of the navigation. */
export function placesOf({ me, root, receivers, role }: Viewer): readonly NavPlace[] {
  const users: NavPlace = { path: '/users', text: 'users', icon: <People /> };
  const mails: NavPlace = { path: '/mails', text: 'mails', icon: <Mail /> };
  const brand: NavPlace = { path: '/brand', text: 'brand', icon: <Palette /> };
  if (role === 'help_desk') return root ? [users, mails] : [users];
  const ownTenant = `/tenants/${encodeURIComponent(me.tenant_id ?? '')}`;
  const ofRoot = (...places: NavPlace[]): readonly NavPlace[] => (root ? places : []);
  return [
    { path: '/', text: 'overview', icon: <Chart /> },
    users,
    { path: '/groups', text: 'groups', icon: <Groups /> },
    root
      ? { path: '/tenants', text: 'tenants', icon: <Building /> }
      : { path: ownTenant, text: 'units', icon: <Building /> },
    ...(root ? [] : [brand]),
    ...ofRoot(...(issuerUrl === '' ? [] : [{ path: '/applications', text: 'applications', icon: <Apps /> } as const]), {
      path: '/identity-providers',
      text: 'identityProviders',
      icon: <SignInKey />,
    }),
    { path: '/logins', text: 'logins', icon: <Key />, group: 'logs' },
    { path: '/audit', text: 'audit', icon: <List />, group: 'logs' },
    ...ofRoot(
      { ...mails, group: 'logs' },
      { path: '/events', text: 'events', icon: <Send />, group: 'logs' },
      ...(receivers
        ? [{ path: '/event-receivers', text: 'receivers', icon: <Send />, group: 'settings' } as const]
        : []),
      { path: '/settings/password', text: 'policy', icon: <Shield />, group: 'settings' },
      { ...brand, group: 'settings' },
      { path: '/settings/mail', text: 'mailSettings', icon: <Send />, group: 'settings' },
      { path: '/settings/all', text: 'allSettings', icon: <List />, group: 'settings' },
    ),
  ];
}
