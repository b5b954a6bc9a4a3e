import { createContext, useContext } from 'react';
import type { MeResponse } from '@portal-auth/sdk';
import type { AdminUser } from '@portal-auth/sdk/admin';

const roles = ['help_desk', 'auditor'] as const;
export type Role = (typeof roles)[number];

/** The role that the console knows. Undefined for an administrator. */
export const roleOf = ({ is_admin, role }: Pick<AdminUser, 'is_admin' | 'role'>): Role | undefined =>
  is_admin ? undefined : roles.find((one) => one === role);

/** The administrator, or the holder of a role, in front of the console. */
export interface Viewer {
  readonly me: MeResponse;
  /** Sees all tenants. An administrator also changes settings, tenants, mails and the rights of administrators. */
  readonly root: boolean;
  /** False for the holder of a role: the console then shows no way to a change that the service would refuse. */
  readonly writes: boolean;
  /** The service keeps events for receivers (`EVENT_RECEIVERS=on`), and the viewer may see them. */
  readonly receivers: boolean;
  /** Undefined for an administrator. */
  readonly role: Role | undefined;
}

/** Administrators and holders of a role are changed by administrators of the root tenant only. */
export const isProtected = ({ root, writes }: Viewer, user: Pick<AdminUser, 'is_admin' | 'role'>): boolean =>
  !(root && writes) && (user.is_admin || user.role != null);

export const mayChange = (viewer: Viewer, user: Pick<AdminUser, 'is_admin' | 'role'>): boolean =>
  viewer.writes && !isProtected(viewer, user);

export const ViewerContext = createContext<Viewer | undefined>(undefined);

export function useViewer(): Viewer {
  const viewer = useContext(ViewerContext);
  if (viewer === undefined) throw new Error('useViewer needs a ViewerContext above the component');
  return viewer;
}
