import { ConnectionError } from '@portal-auth/sdk';
import { findOffer } from './offer';
import type { CaptchaWidget } from './captcha/widget';

export interface CaptchaSource {
  /** Starts early, so that the token is ready when the user submits the form. Errors are left to `take`. */
  prepare(): void;
  /** Returns a token and never returns it again, because a login spends the token even if the login fails. */
  take(): Promise<string>;
}

/** The first captcha provider of the service. The page does not load the code of the other providers. */
class Captcha implements CaptchaSource {
  private box: HTMLElement | null = null;
  private widget: CaptchaWidget | undefined;

  /** A `ref` of the element that a widget is drawn in. */
  readonly place = (box: HTMLElement | null): void => {
    this.box = box;
  };

  prepare(): void {
    this.source().then(
      (source) => source.prepare(),
      () => undefined,
    );
  }

  async take(): Promise<string> {
    return (await this.source()).take();
  }

  private async source(): Promise<CaptchaSource> {
    const { provider, site_key: siteKey } = (await findOffer()).captcha;
    if (provider === 'altcha' || siteKey === null) return (await loaded(import('./captcha/altcha'))).altcha;
    const { CaptchaWidget } = await loaded(import('./captcha/widget'));
    this.widget ??= new CaptchaWidget(provider, siteKey, () => this.box);
    return this.widget;
  }
}

/** Reports a script of the pages that does not load as a failed connection. */
function loaded<T>(module: Promise<T>): Promise<T> {
  return module.catch((cause: unknown) => {
    throw new ConnectionError('a script of the pages did not load', { cause });
  });
}

export const captcha = new Captcha();
