import type { Chapter } from '../../test/support/year/year';

export function yearTable(chapters: readonly Chapter[]): string;
