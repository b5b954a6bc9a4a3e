import type { ReactNode } from 'react';
import { Monitor, Phone } from '../components/icons';
import { moment } from '../i18n/dates';
import { useSpeech } from '../i18n/texts';
import { deviceName, isHandheld } from './device-name';

interface EntryProps {
  readonly userAgent: string | null;
  readonly badge?: ReactNode;
  /** The facts below the name, for example the time and the address. */
  readonly facts: readonly ReactNode[];
  readonly action?: ReactNode;
}

/** One line of a list: a device with its icon, its name, what is known about it, and what can be done with it. */
export function Entry({ userAgent, badge, facts, action }: EntryProps): ReactNode {
  const { t } = useSpeech();
  return (
    <li className="entry">
      {isHandheld(userAgent) ? <Phone /> : <Monitor />}
      <div className="entry-text">
        <p className="entry-name">
          <span title={userAgent ?? undefined}>{deviceName(userAgent, t)}</span>
          {badge}
        </p>
        <ul className="facts">{facts.map((fact, index) => fact != null && <li key={index}>{fact}</li>)}</ul>
      </div>
      {action}
    </li>
  );
}

/** `text` contains `{time}`. */
export function Time({ text = '{time}', at }: { readonly text?: string; readonly at: Date }): ReactNode {
  const { language } = useSpeech();
  const [before, after] = text.split('{time}');
  return (
    <>
      {before}
      <time dateTime={at.toISOString()}>{moment(language, at)}</time>
      {after}
    </>
  );
}
