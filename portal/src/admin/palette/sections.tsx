import type { ReactNode } from 'react';
import type { AdminUser } from '@portal-auth/sdk/admin';
import { issuerUrl } from '../../page-settings';
import { useTexts } from '../i18n/texts';
import { pageActions } from '../page-actions';
import { People, Plus } from '../parts/icons';
import { hrefOf, usePlace, userHref } from '../place';
import { placesOf } from '../places';
import { recentPages } from '../recent';
import { useViewer } from '../viewer';
import { matches } from './matching';

/** A line of the palette: it leads to a place, or opens something of the page. */
export interface Choice {
  readonly key: string;
  readonly text: string;
  readonly note?: string | undefined;
  readonly icon?: ReactNode;
  readonly href?: string;
  readonly open?: () => void;
}

interface Section {
  readonly title: string;
  readonly choices: readonly Choice[];
}

/** What the palette shows for a query. Without one: where the administrator was before, then what can be done. */
export function useSections(query: string, people: readonly AdminUser[], onKeys: () => void): readonly Section[] {
  const { palette: texts, nav, keys } = useTexts();
  const viewer = useViewer();
  const { path } = usePlace();
  const found = (choices: readonly Choice[]) => choices.filter(({ text }) => matches(text, query));
  const ofPage = pageActions().map(({ label, open }) => ({ key: `page ${label}`, text: label, open }));
  const pages = placesOf(viewer).map(({ path: place, text, icon }) => ({
    ...{ key: place, text: nav[text], icon, href: hrefOf(place) },
    ...(text !== 'overview' && text !== 'account' && place.startsWith('/settings') && { note: nav.settings }),
  }));
  const recent = recentPages(hrefOf(path)).map(({ href, title }) => ({ key: `recent ${href}`, text: title, href }));
  const sections: readonly Section[] = [
    { title: texts.recent, choices: query === '' ? recent : [] },
    {
      title: texts.people,
      choices: people.map(({ uid, nickname, login_name: name, email }) => ({
        key: uid,
        text: nickname ?? name,
        note: [nickname === null ? null : name, email].filter(Boolean).join(' · '),
        icon: <People />,
        href: userHref(uid),
      })),
    },
    { title: texts.here, choices: found(ofPage) },
    { title: texts.pages, choices: found(pages) },
    {
      title: texts.actions,
      choices: found([...useMaking(), { key: 'keys', text: keys.title, open: onKeys }]),
    },
  ];
  return sections.filter(({ choices }) => choices.length > 0);
}

/** Pages on which something new is made. */
function useMaking(): readonly Choice[] {
  const { importing, newUser, applications, identityProviders, receivers: texts } = useTexts();
  const { receivers, root, writes } = useViewer();
  if (!writes) return [];
  const make = (path: string, text: string): Choice => ({ key: path, text, icon: <Plus />, href: hrefOf(path) });
  return [
    make('/users/new', newUser.title),
    make('/users/import', importing.title),
    ...(root && issuerUrl !== '' ? [make('/applications/new', applications.create)] : []),
    ...(root ? [make('/identity-providers/new', identityProviders.create)] : []),
    ...(receivers ? [make('/event-receivers/new', texts.create)] : []),
  ];
}
