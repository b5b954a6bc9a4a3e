import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';

export interface MailLogo {
  readonly filename: string;
  readonly content: Buffer;
  readonly contentType: string;
  readonly cid: string;
  readonly contentDisposition: 'inline';
}

/** Each mail carries the logo, so a large one is left out. */
export const largestLogoBytes = 100 * 1024;

/**
 * The logo as a part of the mail, so that a mail program fetches nothing: a remote image tells its server who opens the mail,
 * and most programs do not show it.
 * @param file a png or jpg file (`BrandSettings.mailLogo`)
 * @returns undefined for a file that is too large
 */
export function mailLogoOf(file: string): MailLogo | undefined {
  if (statSync(file).size > largestLogoBytes) return undefined;
  return attachedLogo(basename(file), readFileSync(file));
}

export const attachedLogo = (filename: string, content: Buffer): MailLogo => ({
  ...{ filename, content, cid: 'logo@portal', contentDisposition: 'inline' },
  contentType: filename.endsWith('.png') ? 'image/png' : 'image/jpeg',
});
