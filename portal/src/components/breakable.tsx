import { Fragment, type ReactNode } from 'react';

/** A long value without spaces, such as an address, breaks after its punctuation and not within a word. */
export function breakable(value: ReactNode): ReactNode {
  if (typeof value !== 'string' || /\s/.test(value)) return value;
  return value.match(/.+?(?:[@/_?&=]+(?=[\w.])|\w\.(?=\w)|$)/g)?.map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
