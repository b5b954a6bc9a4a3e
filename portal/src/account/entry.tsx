import type { ReactNode } from 'react';
import { Monitor, Phone } from './icons';
import { moment, relativeTime } from '../i18n/dates';
import { fill, useSpeech } from '../i18n/texts';
import { useServiceTime } from '../service-time';
import { deviceName, isHandheld } from './device-name';

interface EntryProps {
  readonly icon: ReactNode;
  readonly name: ReactNode;
  readonly badge?: ReactNode;
  /** The facts below the name, for example the time and the address. */
  readonly facts: readonly ReactNode[];
  readonly action?: ReactNode;
  /** A form or a question about the thing, below all the rest. */
  readonly more?: ReactNode;
}

/** One line of a list: an icon, a name, what is known about the thing, and what can be done with it. */
export function Entry({ icon, name, badge, facts, action, more }: EntryProps): ReactNode {
  return (
    <li className={more === undefined ? 'entry' : 'entry open'}>
      {icon}
      <div className="entry-text">
        <p className="entry-name">
          {name}
          {badge}
        </p>
        <ul className="facts">{facts.map((fact, index) => fact != null && <li key={index}>{fact}</li>)}</ul>
      </div>
      {action}
      {more !== undefined && <div className="entry-more">{more}</div>}
    </li>
  );
}

interface DeviceEntryProps extends Omit<EntryProps, 'icon' | 'name'> {
  readonly userAgent: string | null;
}

/** A device, whose icon and name are in its `User-Agent`. */
export function DeviceEntry({ userAgent, ...entry }: DeviceEntryProps): ReactNode {
  const { t } = useSpeech();
  const name = <span title={userAgent ?? undefined}>{deviceName(userAgent, t)}</span>;
  return <Entry icon={isHandheld(userAgent) ? <Phone /> : <Monitor />} name={name} {...entry} />;
}

/**
 * A time in words, for example `3 minutes ago`, or a date. The exact time is its tooltip, and a screen reader reads it.
 * `text` contains `{time}`.
 */
export function Time({ text, at }: { readonly text?: string; readonly at: Date }): ReactNode {
  const { t, language } = useSpeech();
  const present = useServiceTime();
  const exact = moment(language, at);
  const words = relativeTime(language, at, present, t.dates.now);
  const [before, after] = (text ?? '{time}').split('{time}');
  return (
    <>
      {before}
      <time dateTime={at.toISOString()} title={exact}>
        {words ?? (text === undefined ? exact : fill(t.dates.on, { date: exact }))}
        {words !== undefined && <span className="heard"> ({exact})</span>}
      </time>
      {after}
    </>
  );
}
