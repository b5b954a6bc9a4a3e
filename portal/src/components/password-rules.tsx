import type { ReactNode } from 'react';
import { passwordHints, type PasswordPolicyResponse } from '@portal-auth/sdk';
import type { Texts } from '../i18n/en';
import { fill, useSpeech } from '../i18n/texts';
import { Check, Icon } from './icons';

export interface Hint {
  readonly text: string;
  /** Whether the password obeys the rule; undefined until the service has judged it. */
  readonly met: boolean | undefined;
}

/** The rules that only the service can judge. */
const forbidding = ['forbid_common', 'forbid_own_data', 'breach_check'] as const;

/** The rules that a page can judge. */
export const hintsOf = (policy: PasswordPolicyResponse, password: string, t: Texts): Hint[] =>
  passwordHints(policy, password).map(({ rule, met }) => ({
    met,
    text: fill(t.reset.hints[rule], { count: policy.min_length }),
  }));

/** @param broken the rules that the service names in its refusal of the password. */
export const forbiddenOf = (policy: PasswordPolicyResponse, broken: readonly string[], t: Texts): Hint[] =>
  forbidding
    .filter((rule) => policy[rule])
    .map((rule) => ({ text: t.reset.forbidden[rule], met: broken.includes(rule) ? false : undefined }));

/** One sentence about the rules that the password breaks. */
export function problemOf(
  hints: readonly Hint[],
  forbidden: readonly Hint[],
  t: Texts,
  language: string,
): string | undefined {
  const list = new Intl.ListFormat(language);
  const broken = hints.filter(({ met }) => !met).map(({ text }) => text);
  if (broken.length > 0) return fill(t.reset.broken, { rules: list.format(broken) });
  const refused = forbidden.filter(({ met }) => met === false).map(({ text }) => text);
  return refused.length > 0 ? fill(t.reset.refused, { rules: list.format(refused) }) : undefined;
}

export function Rules({ title, hints }: { readonly title: string; readonly hints: readonly Hint[] }): ReactNode {
  const { t } = useSpeech();
  return (
    <>
      <p>{title}</p>
      <ul>
        {hints.map(({ text, met }) => (
          <li key={text} className={met ? 'met' : undefined}>
            {met ? <Check /> : <Dot />}
            {text}
            <span className="heard">, {met === undefined ? t.reset.later : met ? t.reset.met : t.reset.unmet}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

const Dot = (): ReactNode => (
  <Icon>
    <circle cx="12" cy="12" r="3" />
  </Icon>
);
