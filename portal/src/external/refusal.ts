import { type ErrorCode, ServiceError } from '@portal-auth/sdk';
import { useSpeech } from '../i18n/texts';
import { useTexts } from './i18n/texts';

/** The refusals whose usual texts also hold here. */
const usual: readonly string[] = [
  'LOGIN_401004',
  'LOGIN_401008',
  'LOGIN_401011',
  'LOGIN_401012',
  'LOGIN_401013',
  'LOGIN_503002',
];

/**
 * The text of a refused sign-in. Undefined for a failure whose usual text is shown.
 * @param error a failure, or the error code of the address. Anybody can write that one, so it only chooses one of the texts
 */
export function useRefusal(error: unknown): string | undefined {
  const { t } = useSpeech();
  const { other, ...refused } = useTexts().refused;
  const code = error instanceof ServiceError ? error.code : error;
  if (typeof code === 'string' && Object.hasOwn(refused, code)) return refused[code as keyof typeof refused];
  if (typeof error !== 'string') return undefined;
  return usual.includes(error) ? t.errors[error as ErrorCode] : other;
}
