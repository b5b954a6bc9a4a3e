import { type ReactNode, type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import 'altcha/external';
import 'altcha/altcha.css';
import 'altcha/i18n/zh-cn';
import Pbkdf2Worker from 'altcha/workers/pbkdf2?worker';
import type { AltchaWidget } from './altcha-widget';
import { useSpeech } from '../i18n/texts';
import { serviceUrl } from '../page-settings';

// The external build brings no worker of its own: a file of this origin is what the policy of the page allows.
$altcha.algorithms.set('PBKDF2/SHA-256', () => new Pbkdf2Worker());

export interface CaptchaHandle {
  /** The solved challenge; solves it now where the user did not ask for it before. Undefined when that failed. */
  token(): Promise<string | undefined>;
  /** A token is spent by its first use, whatever came of it. */
  renew(): void;
}

/** The stock widget on the service's own challenge (`GET /captcha/challenge`). */
export function Captcha({ ref }: { readonly ref: Ref<CaptchaHandle> }): ReactNode {
  const { language } = useSpeech();
  const widget = useRef<AltchaWidget>(null);
  const solved = useRef<string>(undefined);

  // Another language is another element (`key`), and an unsolved one.
  useEffect(() => {
    solved.current = undefined;
    const element = widget.current;
    const changed = (event: Event) => {
      const { state, payload } = (event as CustomEvent<{ state: string; payload?: string | null }>).detail;
      solved.current = state === 'verified' ? (payload ?? undefined) : undefined;
    };
    element?.addEventListener('statechange', changed);
    return () => element?.removeEventListener('statechange', changed);
  }, [language]);

  useImperativeHandle(
    ref,
    () => ({
      token: async () => solved.current ?? (await widget.current?.verify())?.payload,
      renew: () => widget.current?.reset(),
    }),
    [],
  );

  return (
    <altcha-widget
      key={language}
      ref={widget}
      challenge={`${serviceUrl}/captcha/challenge`}
      language={language.toLowerCase()}
      configuration={JSON.stringify({ hideFooter: true, hideLogo: true, humanInteractionSignature: false })}
    />
  );
}
