import { type ReactNode, type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import 'altcha/external';
import 'altcha/altcha.css';
import 'altcha/i18n/zh-cn';
import Pbkdf2Worker from 'altcha/workers/pbkdf2?worker';
import type { AltchaWidget } from './altcha-widget';
import { useSpeech } from '../i18n/texts';
import { serviceUrl } from '../page-settings';

// The external build of the widget brings no worker. The Content-Security-Policy allows only workers of this origin.
$altcha.algorithms.set('PBKDF2/SHA-256', () => new Pbkdf2Worker());

export interface CaptchaHandle {
  /** Returns the solved challenge, and solves it first if the user has not. Undefined if that failed. */
  token(): Promise<string | undefined>;
  /** Call it after each use of a token: a token is spent even if the login failed. */
  renew(): void;
}

/** The ALTCHA widget with the challenge of the service (`GET /captcha/challenge`). */
export function Captcha({ ref }: { readonly ref: Ref<CaptchaHandle> }): ReactNode {
  const { language } = useSpeech();
  const widget = useRef<AltchaWidget>(null);
  const solved = useRef<string>(undefined);

  // A change of the language creates a new element (`key`), whose challenge is unsolved.
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
