import type { Attributes, HTMLAttributes, Ref } from 'react';

/** The part of the widget that the pages use. The React types of the package are for an older version of React. */
export interface AltchaWidget extends HTMLElement {
  reset(): void;
  verify(): Promise<{ payload: string } | null>;
}

declare global {
  const $altcha: { algorithms: Map<string, () => Worker> };
}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'altcha-widget': HTMLAttributes<HTMLElement> &
        Attributes & {
          ref?: Ref<AltchaWidget>;
          challenge?: string;
          language?: string;
          configuration?: string;
        };
    }
  }
}
