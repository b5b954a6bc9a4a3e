import { useSyncExternalStore } from 'react';
import { PortalAuth, type Snapshot } from '@portal-auth/sdk';
import { serviceUrl } from './page-settings';
import { baseOfService } from './service-base';
import { noteDate } from './service-time';

export const serviceBase = baseOfService(serviceUrl, location.href);

/** The only instance. A browser loads the code for passkeys only where the service offers them. */
export const auth = new PortalAuth({
  baseUrl: serviceBase,
  fetch: async (...call) => {
    const answer = await fetch(...call);
    noteDate(answer.headers.get('date'));
    return answer;
  },
  passkeys: () => import('@portal-auth/sdk/passkeys'),
});

const subscribe = (listener: () => void) => auth.subscribe(listener);
const snapshot = () => auth.snapshot;

export function useAuth(): Snapshot {
  return useSyncExternalStore(subscribe, snapshot);
}
