import { useSyncExternalStore } from 'react';
import { PortalAuth, type Snapshot } from '@portal-auth/sdk';
import { serviceUrl } from './page-settings';

/** One for the page. A request needs an absolute address, so the page's own origin is spelled out. */
export const auth = new PortalAuth({ baseUrl: new URL(serviceUrl || '/', location.href).href });

const subscribe = (listener: () => void) => auth.subscribe(listener);
const snapshot = () => auth.snapshot;

export function useAuth(): Snapshot {
  return useSyncExternalStore(subscribe, snapshot);
}
