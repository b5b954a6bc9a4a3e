import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { AdminUser } from '@portal-auth/sdk/admin';
import { fill } from '../../i18n/texts';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Chevron, Clock, Cross, Search } from '../parts/icons';
import { go } from '../place';
import { mayLeave } from '../../unsaved';
import { useLoaded } from '../use-loaded';
import { moved } from './matching';
import { type Choice, useSections } from './sections';
import '../../styles/dialog.css';
import '../../styles/palette.css';

const typingMs = 200;
const people = 6;

interface PaletteProps {
  readonly onClose: () => void;
  readonly onKeys: () => void;
}

/**
 * Finds people, pages and actions by name. A combobox of WAI-ARIA: the field keeps the focus, and the arrows move through
 * the list. The native dialog gives the focus back to where it was.
 */
export function Palette({ onClose, onKeys }: PaletteProps): ReactNode {
  const { palette: texts, toasts } = useTexts();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const chosen = useRef<Choice>(undefined);
  const [query, setQuery] = useState('');
  const [index, setIndex] = useState(0);
  const found = usePeople(query.trim());
  const sections = useSections(query.trim(), found.people, onKeys);
  const choices = sections.flatMap(({ choices: of }) => of);
  const at = Math.min(index, choices.length - 1);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, at]);

  const choose = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    chosen.current = choice;
    dialog.current?.close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // The key ends an input of Chinese and the like, and belongs to it.
    if (event.nativeEvent.isComposing) return;
    const next = moved(event.key, at, choices.length);
    if (next === undefined && event.key !== 'Enter') return;
    event.preventDefault();
    if (next === undefined) choose(choices[at]);
    else setIndex(next);
  };
  const none = choices.length === 0 && !found.searching;
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label={texts.title}
      onClick={(event) => event.target === dialog.current && dialog.current.close()}
      onClose={() => {
        onClose();
        // After the dialog has given the focus back, so that a dialog of the action gives it back to the same place.
        const { current } = chosen;
        if (current?.open !== undefined) current.open();
        else if (current?.href !== undefined && mayLeave()) go(current.href);
      }}
    >
      <div className="palette-head">
        <Search />
        <input
          role="combobox"
          aria-label={texts.title}
          aria-expanded={choices.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={choices.length > 0 ? `${id}-${at}` : undefined}
          aria-autocomplete="list"
          placeholder={texts.hint}
          value={query}
          maxLength={255}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
          onChange={(event) => {
            setQuery(event.target.value);
            setIndex(0);
          }}
          onKeyDown={onKeyDown}
        />
        <button type="button" className="icon-button" aria-label={toasts.close} onClick={() => dialog.current?.close()}>
          <Cross />
        </button>
      </div>
      <p className="heard" role="status">
        {none ? texts.nothing : query !== '' && !found.searching && fill(texts.count, { count: choices.length })}
      </p>
      <div className="palette-list" id={`${id}-list`} role="listbox" aria-label={texts.results}>
        {sections.map(({ title, choices: of }) => (
          <div key={title} role="group" aria-labelledby={`${id}-${title}`}>
            <p className="nav-group" id={`${id}-${title}`}>
              {title}
            </p>
            {of.map((choice) => {
              const place = choices.indexOf(choice);
              return (
                <div
                  key={choice.key}
                  id={`${id}-${place}`}
                  role="option"
                  aria-selected={place === at}
                  className="palette-choice"
                  onMouseMove={() => setIndex(place)}
                  onClick={() => choose(choice)}
                >
                  {choice.icon ?? (choice.open === undefined ? <Clock /> : <Chevron />)}
                  <span>
                    {choice.text}
                    {choice.note !== undefined && <span className="note"> {choice.note}</span>}
                  </span>
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {none && <p className="note palette-none">{texts.nothing}</p>}
      {found.error && <p className="note palette-none">{texts.failed}</p>}
    </dialog>
  );
}

/** The users whom the search of the list of users finds, after a pause in typing. Whom this viewer may not see is not found. */
function usePeople(query: string) {
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setAsked(query), typingMs);
    return () => clearTimeout(timer);
  }, [query]);
  const { value, error, loading } = useLoaded(async (signal): Promise<readonly AdminUser[]> => {
    if (asked === '') return [];
    return (await admin.users({ query: asked }).page({ signal, limit: people })).items;
  }, asked);
  return {
    // The answer to a longer or shorter text may not belong to this one.
    people: query === '' || value === undefined ? [] : value,
    searching: query !== '' && (loading || asked !== query),
    error: query !== '' && error !== undefined,
  };
}
