import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { AdminUser } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { useLoaded } from '../use-loaded';

const typingMs = 250;
const suggested = 8;

interface PersonFilterProps {
  /** A login name, or a name that nobody has. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/**
 * Finds the rows of one person. It suggests people while the administrator types. A suggestion counts at once; what nobody
 * is called counts with Enter, because a log also has the attempts under such names.
 */
export function PersonFilter({ value, onChange }: PersonFilterProps): ReactNode {
  const { logs } = useTexts();
  const [text, setText] = useState(value);
  const [asked, setAsked] = useState('');
  const applied = useRef(value);
  const id = useId();
  useEffect(() => {
    if (value !== applied.current) setText(value);
    applied.current = value;
  }, [value]);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  const { value: people = [] } = useLoaded(async (signal): Promise<readonly AdminUser[]> => {
    if (asked === '' || asked === value) return [];
    return (await admin.users({ query: asked }).page({ signal, limit: suggested })).items;
  }, asked);

  const apply = (next: string) => {
    applied.current = next.trim();
    onChange(next.trim());
  };
  const typed = (next: string) => {
    setText(next);
    if (next === '' || people.some(({ login_name: name }) => name === next)) apply(next);
  };
  return (
    <div className="field wide">
      <label htmlFor={id}>{logs.person}</label>
      <div className="input">
        <input
          id={id}
          value={text}
          list={`${id}-people`}
          placeholder={logs.personHint}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={255}
          onChange={(event) => typed(event.target.value)}
          onBlur={() => text.trim() !== applied.current && apply(text)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') apply(text);
            if (event.key === 'Escape' && text !== '') {
              event.preventDefault();
              typed('');
            }
          }}
        />
      </div>
      <datalist id={`${id}-people`}>
        {people.map(({ uid, login_name: name, nickname, email }) => (
          <option key={uid} value={name}>
            {[nickname, email].filter(Boolean).join(' · ')}
          </option>
        ))}
      </datalist>
    </div>
  );
}
