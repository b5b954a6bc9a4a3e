import { createContext, useContext } from 'react';
import type { MeResponse } from '@portal-auth/sdk';

/** The administrator in front of the console. */
export interface Viewer {
  readonly me: MeResponse;
  /** Sees all tenants, and changes settings, tenants, mails and the rights of administrators. */
  readonly root: boolean;
}

export const ViewerContext = createContext<Viewer | undefined>(undefined);

export function useViewer(): Viewer {
  const viewer = useContext(ViewerContext);
  if (viewer === undefined) throw new Error('useViewer needs a ViewerContext above the component');
  return viewer;
}
