import type { ReactNode } from 'react';
import { useTexts } from './i18n/texts';
import { hrefOf, usePlace } from './place';
import { type NavPlace, placesOf } from './places';
import type { Viewer } from './viewer';

export function Navigation({ viewer }: { readonly viewer: Viewer }): ReactNode {
  const { nav } = useTexts();
  const places = placesOf(viewer);
  const items = (group: NavPlace['group']): ReactNode =>
    places.filter((one) => one.group === group).map((one) => <Item key={one.path} of={one} />);
  const groups = (['logs', 'settings'] as const).filter((group) => places.some((one) => one.group === group));
  return (
    <nav aria-label={nav.label}>
      <ul>{items(undefined)}</ul>
      {groups.map((group) => (
        <div key={group}>
          <p className="nav-group" id={`nav-${group}`}>
            {nav[group]}
          </p>
          <ul aria-labelledby={`nav-${group}`}>{items(group)}</ul>
        </div>
      ))}
    </nav>
  );
}

function Item({ of: { path, icon, text } }: { readonly of: NavPlace }): ReactNode {
  const { nav } = useTexts();
  const { path: here } = usePlace();
  const current = here === path ? 'page' : path !== '/' && here.startsWith(`${path}/`) ? 'true' : undefined;
  return (
    <li>
      <a className="nav-item" href={hrefOf(path)} aria-current={current}>
        {icon}
        {nav[text]}
      </a>
    </li>
  );
}
