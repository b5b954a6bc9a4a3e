import type { Language } from '../../shared/languages';

/** The link of §4.9: exactly these two parameters, both of our own making, and no base but `SYSTEM_URL` (W29). */
export function resetLink(systemUrl: string, token: string, language: Language): string {
  return `${systemUrl}/reset-password?uid=${token}&lang=${language}`;
}
