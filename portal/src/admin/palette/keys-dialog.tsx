import { Fragment, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { fill } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { CheckField } from '../parts/fields';
import { hasSingleKeys, setSingleKeys } from '../single-keys';
import { control } from './control';
import '../../styles/dialog.css';
import '../../styles/palette.css';

/** The keys of the console, and the switch for those without Ctrl or ⌘. */
export function KeysDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { keys: texts, toasts } = useTexts();
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const [single, setSingle] = useState(hasSingleKeys);
  useEffect(() => dialog.current?.showModal(), []);
  const keys: readonly (readonly [keys: readonly string[], text: string])[] = [
    [[`${control} K`], texts.palette],
    ...(single
      ? ([
          [['/'], texts.search],
          [['?'], texts.help],
        ] as const)
      : []),
    [single ? ['↓', '↑', 'J', 'K'] : ['↓', '↑'], texts.rows],
    [['Home', 'End'], texts.ends],
    [['Enter'], texts.open],
    [[texts.space], texts.select],
    [['F8'], texts.toasts],
    [['Esc'], texts.close],
  ];
  return (
    <dialog ref={dialog} className="keys" aria-labelledby={title} onClose={onClose}>
      <h2 id={title}>{texts.title}</h2>
      <dl>
        {keys.map(([names, text]) => (
          <div key={text}>
            <dt>
              {names.map((name, n) => (
                <Fragment key={name}>
                  {n > 0 && ' '}
                  <kbd>{name}</kbd>
                </Fragment>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <CheckField
        label={texts.single}
        hint={fill(texts.singleHint, { key: `${control} K` })}
        checked={single}
        onChange={(on) => {
          setSingleKeys(on);
          setSingle(on);
        }}
      />
      <div className="actions">
        <button type="button" className="primary" onClick={() => dialog.current?.close()} autoFocus>
          {toasts.close}
        </button>
      </div>
    </dialog>
  );
}
