import { type DragEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useTexts } from '../i18n/texts';
import { chosenImage, type ImageDraft, type ImageFault, imageTypes, isChosen, urlOf } from './chosen-image';

interface ImageFieldProps {
  readonly label: string;
  readonly hint: string;
  /** The background that the image is made for. */
  readonly on: 'light' | 'dark';
  readonly value: ImageDraft;
  /** The path that is shown instead of an image of its own. */
  readonly inherited: string | null;
  readonly onChange: (image: ImageDraft) => void;
  readonly problem: string | undefined;
}

/** An image that is chosen, or dropped onto the field. Nothing is sent before the form is saved. */
export function ImageField(props: ImageFieldProps): ReactNode {
  const { label, hint, on, value, inherited, onChange, problem } = props;
  const { brand: texts } = useTexts();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState<ImageFault>();
  const [over, setOver] = useState(false);
  const blobUrl = isChosen(value) ? value.blobUrl : undefined;
  useEffect(() => (blobUrl === undefined ? undefined : () => URL.revokeObjectURL(blobUrl)), [blobUrl]);
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    const chosen = await chosenImage(file);
    setFault(typeof chosen === 'string' ? chosen : undefined);
    if (typeof chosen !== 'string') onChange(chosen);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (input.current?.matches(':disabled') === false) void take(event.dataTransfer.files[0]);
  };
  const clear = () => {
    setFault(undefined);
    // The same file can be chosen again.
    if (input.current !== null) input.current.value = '';
    input.current?.focus();
    onChange(null);
  };
  const wrong = fault === undefined ? problem : texts.faults[fault];
  const url = urlOf(value ?? inherited);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div
        className={over ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <span className={`drop-image ${on}`}>
          {url === null ? <span className="none">{texts.noImage}</span> : <img src={url} alt="" />}
        </span>
        <div className="drop-choice">
          <input
            ref={input}
            id={id}
            className="file"
            type="file"
            accept={Object.values(imageTypes).join(',')}
            aria-invalid={wrong !== undefined}
            aria-describedby={`${id}-hint ${id}-error`}
            onChange={(event) => void take(event.target.files?.[0])}
          />
          {value !== null && (
            <button type="button" className="secondary small" aria-label={`${texts.remove}: ${label}`} onClick={clear}>
              {texts.remove}
            </button>
          )}
          {value === null && inherited !== null && <span className="note">{texts.inherited}</span>}
        </div>
      </div>
      <p className="field-error" id={`${id}-error`} hidden={wrong === undefined}>
        {wrong}
      </p>
      <p className="note" id={`${id}-hint`}>
        {hint}
      </p>
    </div>
  );
}
