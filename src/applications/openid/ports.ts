import type { IncomingMessage } from 'node:http';
import type { KeyRing } from '../../platform/crypto/key-ring';
import type { GroupMembers } from '../../groups/group-members';
import type { ClientInfo } from '../../shared/client-info';
import type { DirectoryRecheck } from '../../sessions/directory-recheck';
import type { JwtSettings } from '../../sessions/jwt-settings';
import type { OpenIdCounts } from '../openid-counts';
import type { OpenIdProviderSettings } from '../openid-settings';
import type { RecordPorts } from './record-adapter';

export interface ProviderPorts extends RecordPorts {
  readonly settings: OpenIdProviderSettings;
  readonly systemUrl: string;
  readonly jwt: JwtSettings;
  readonly keys: KeyRing;
  readonly counts: OpenIdCounts;
  readonly recheck: DirectoryRecheck;
  readonly members: GroupMembers;
  /** Ends the session of the service: the browser asked for it at an application. */
  readonly endSession: (userId: string, sid: string, client: ClientInfo) => Promise<void>;
}

/** The request of a browser, with the value of its cookie (`browserOf`). */
export type BrowserRequest = IncomingMessage & {
  portalBrowser?: string;
  originalUrl?: string;
  portalClient?: ClientInfo;
};
