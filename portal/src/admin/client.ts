import { PortalAdmin } from '@portal-auth/sdk/admin';
import { auth } from '../auth';

/** Each request that needs a fresh login asks for it in place, and is then sent again. */
export const admin = new PortalAdmin({
  call: (operation, options) => auth.withFreshLogin(() => auth.call(operation, options)),
});
