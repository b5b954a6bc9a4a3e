import type { Language } from '../../shared/languages';

/** The reset link. Its base is `SYSTEM_URL` only, never a header of the request (docs/spec/attacks.md#w29). */
export function resetLink(systemUrl: string, token: string, language: Language): string {
  return `${systemUrl}/reset-password?uid=${token}&lang=${language}`;
}
