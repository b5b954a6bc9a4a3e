import { Init1760000000000 } from './1760000000000-init';
import type { RepeatableMigration } from './repeatable';

/** In the order they run. A class list, not a glob: it is the same under jest, in the build and in the image. */
export const migrations: (new () => RepeatableMigration)[] = [Init1760000000000];
