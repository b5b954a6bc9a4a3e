import type { AdminImportReport } from '@portal-auth/sdk/admin';

/** A cell that a spreadsheet would take as a formula gets an apostrophe. */
const cell = (text: string): string => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replace(/"/g, '""')}"`;

/** The refused rows as a file for a spreadsheet, with the byte order mark by which Excel knows UTF-8. */
export const refusedRows = (refused: readonly AdminImportReport['refused'][number][]): string =>
  `\ufeffline,error_code,reason\r\n${refused
    .map(({ line, error_code, reason }) => `${line},${cell(error_code)},${cell(reason)}\r\n`)
    .join('')}`;
