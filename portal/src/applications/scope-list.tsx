import type { ReactNode } from 'react';
import type { MeResponse } from '@portal-auth/sdk';
import { Check } from '../components/icons';
import { fill } from '../i18n/texts';
import type { Texts } from './i18n/en';
import { useTexts } from './i18n/texts';

/** What an application learns by a scope, in plain words. */
export function scopeText({ scopes: texts }: Texts, scope: string): string {
  const known: Readonly<Record<string, string>> = texts;
  return scope !== 'other' && Object.hasOwn(known, scope) ? known[scope]! : fill(texts.other, { scope });
}

interface ScopeListProps {
  readonly scopes: readonly string[];
  /** The values that the application would see now. */
  readonly me: MeResponse;
}

export function ScopeList({ scopes, me }: ScopeListProps): ReactNode {
  const texts = useTexts();
  const values: Readonly<Record<string, readonly (string | null)[]>> = {
    profile: [me.nickname, me.login_name],
    email: [me.email],
  };
  return (
    <ul className="scopes">
      {scopes.map((scope) => {
        const shown = [...new Set(values[scope])].filter((value) => value !== null);
        return (
          <li key={scope}>
            <Check />
            <div>
              {scopeText(texts, scope)}
              {shown.length > 0 && <p className="note">{shown.join(' · ')}</p>}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
