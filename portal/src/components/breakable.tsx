import { Fragment, type ReactNode } from 'react';

/** A long address breaks after its signs, and not in the middle of a word. Other values stay as they are. */
export function breakable(value: ReactNode): ReactNode {
  if (typeof value !== 'string' || /\s/.test(value)) return value;
  return value.match(/.+?(?:[@/_?&=]+(?=[\w.])|\w\.(?=\w)|$)/g)?.map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
