import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { useTexts } from '../i18n/texts';
import { focusSearch, onListKey } from '../list-keys';
import { focusToasts } from '../parts/toasts';
import { Search } from '../parts/icons';
import { hasSingleKeys } from '../single-keys';
import { complain } from '../toasts';
import { ConnectionError } from '@portal-auth/sdk';
import { control } from './control';

/** The scripts of the palette and of the list of keys. A browser loads them when they are opened. */
const scripts = {
  palette: async () => (await import('./palette')).Palette,
  keys: async () => (await import('./keys-dialog')).KeysDialog,
};
type Name = keyof typeof scripts;
type Opened = ComponentType<{ readonly onClose: () => void; readonly onKeys: () => void }>;

/** The button of the palette, and the keys that act on every page of the console. */
export function PaletteOpener(): ReactNode {
  const { palette: texts } = useTexts();
  const [Shown, setShown] = useState<Opened>();
  const open = (name: Name) => {
    scripts[name]().then(
      (Dialog) => setShown(() => Dialog as Opened),
      (cause: unknown) => complain(new ConnectionError('the palette did not load', { cause })),
    );
  };
  useKeys(open);
  return (
    <>
      <button
        type="button"
        className="palette-button"
        aria-keyshortcuts="Control+K Meta+K"
        title={texts.title}
        onClick={() => open('palette')}
      >
        <Search />
        <span>{texts.button}</span>
        <kbd aria-hidden="true">{control} K</kbd>
      </button>
      {Shown !== undefined && <Shown onClose={() => setShown(undefined)} onKeys={() => open('keys')} />}
    </>
  );
}

/** A key belongs to a field that is being filled in, and to a dialog that is open. */
function useKeys(open: (name: Name) => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || document.querySelector('dialog[open]') !== null) return;
      const { target, key } = event;
      const act = (work: () => void) => {
        event.preventDefault();
        work();
      };
      if (key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey)
        return act(() => open('palette'));
      if (key === 'F8') return act(focusToasts);
      const typing = target instanceof Element && target.closest('input, select, textarea') !== null;
      const single = !typing && !event.ctrlKey && !event.metaKey && !event.altKey && hasSingleKeys();
      if (single && key === '/') return act(() => focusSearch() || open('palette'));
      if (single && key === '?') return act(() => open('keys'));
      const main = document.querySelector<HTMLElement>('main');
      if (main !== null) onListKey(event, main);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  });
}
