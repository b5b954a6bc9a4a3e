import { type ReactNode, useEffect, useState } from 'react';
import { Copy } from '../components/copy';
import { Message } from '../components/message';
import { saveFile } from '../components/save-file';
import { fill, useSpeech } from '../i18n/texts';
import { useOffer } from '../offer';
import { useAskBeforeLeaving } from '../unsaved';

interface NewCodesProps {
  readonly codes: readonly string[];
  readonly loginName: string;
  readonly onDone: () => void;
}

/** Shows new recovery codes until the user has saved them. Nothing stores them, so leaving the page loses them: it asks before. */
export function NewCodes({ codes, loginName, onDone }: NewCodesProps): ReactNode {
  const { t } = useSpeech();
  const { recovery: texts } = t.account;
  const product = useOffer().brand.name ?? t.product;
  const heading = fill(texts.sheet, { product, name: loginName });
  const [saved, setSaved] = useState(false);
  useAskBeforeLeaving(!saved, texts.leave);
  // `onDone` may lead to another page. An effect runs it after `useAskBeforeLeaving` has stopped asking.
  useEffect(() => {
    if (saved) onDone();
  }, [saved, onDone]);
  return (
    <>
      <Message kind="warning">{texts.once}</Message>
      <div className="codes-sheet">
        <p className="only-printed">{heading}</p>
        <ul className="codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
      </div>
      <div className="actions start">
        <Copy text={codes.join('\n')} label={texts.copy} />
        <button
          type="button"
          className="secondary small"
          onClick={() =>
            saveFile('recovery-codes.txt', new Blob([[heading, '', ...codes, ''].join('\r\n')], { type: 'text/plain' }))
          }
        >
          {texts.download}
        </button>
        <button type="button" className="secondary small" onClick={print}>
          {texts.print}
        </button>
      </div>
      <button type="button" className="primary" onClick={() => setSaved(true)}>
        {texts.done}
      </button>
    </>
  );
}

/** Prints the codes without the rest of the page. */
function print(): void {
  const { dataset } = document.documentElement;
  dataset.print = 'codes';
  addEventListener('afterprint', () => delete dataset.print, { once: true });
  window.print();
}
