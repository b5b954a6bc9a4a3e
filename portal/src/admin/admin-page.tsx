import type { ReactNode } from 'react';
import '../styles/account.css';
import '../styles/admin.css';
import { Gate } from './gate';
import { TextsProvider } from './i18n/texts';
import { PlaceContext, useHash } from './place';
import { Routes } from './routes';
import { Shell } from './shell';

/** The administration console: a frame of its own, and its places in the fragment of the address. */
export function AdminPage(): ReactNode {
  return (
    <PlaceContext value={useHash()}>
      <TextsProvider>
        <Gate>{(viewer, page) => <Shell viewer={viewer}>{page ?? <Routes />}</Shell>}</Gate>
      </TextsProvider>
    </PlaceContext>
  );
}
