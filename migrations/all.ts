import { Init1760000000000 } from './1760000000000-init';
import { AuditActor1763800000000 } from './1763800000000-audit-actor';
import type { RepeatableMigration } from './repeatable';

/** In the order in which they run. A list of classes works in jest, in the build and in the image; a glob does not. */
export const migrations: (new () => RepeatableMigration)[] = [Init1760000000000, AuditActor1763800000000];
