import type { Attributes, HTMLAttributes, Ref } from 'react';

/** What is used of the widget's element; its own React types are of a version before the one here. */
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
