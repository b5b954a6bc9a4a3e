import { Init1760000000000 } from './1760000000000-init';
import { AuditActor1763800000000 } from './1763800000000-audit-actor';

/** In the order they run. A class list, not a glob: it is the same under jest, in the build and in the image. */
export const migrations = [Init1760000000000, AuditActor1763800000000];
