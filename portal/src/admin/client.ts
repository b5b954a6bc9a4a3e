import { PortalAdmin } from '@portal-auth/sdk/admin';
import { auth } from '../auth';

export const admin = new PortalAdmin(auth);
