export type WidgetProvider = 'turnstile' | 'hcaptcha' | 'recaptcha';
export type WidgetId = string | number;

/** The common interface of the global objects of the three providers. */
export interface WidgetApi {
  render(element: HTMLElement, options: Readonly<Record<string, unknown>>): WidgetId;
  /** The callback of `render` gets the token. With a key of reCAPTCHA v3, the token is the result of this method. */
  execute(id: WidgetId, options?: Readonly<Record<string, unknown>>): unknown;
  reset(id: WidgetId): void;
}

export interface Provider {
  readonly script: string;
  readonly global: string;
  /** The provider takes the language of the page from the address of its script, or from the options of the widget. */
  readonly languageOf: 'script' | 'widget';
  /** True when the challenge can run before the user submits, because it shows nothing unless it needs the user. */
  readonly early: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  readonly executeOptions?: Readonly<Record<string, unknown>>;
}

/** The action of each token. An operator who wants the service to check it sets `CAPTCHA_EXPECTED_ACTION` to this. */
const action = 'login';

export const providers: Readonly<Record<WidgetProvider, Provider>> = {
  // https://developers.cloudflare.com/turnstile/get-started/client-side-rendering/
  turnstile: {
    script: 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit',
    global: 'turnstile',
    languageOf: 'widget',
    early: true,
    options: {
      action,
      execution: 'execute',
      appearance: 'interaction-only',
      size: 'flexible',
      retry: 'never',
      'refresh-expired': 'manual',
      // The token goes into the request of the login, not into a field of the form.
      'response-field': false,
    },
  },
  // https://docs.hcaptcha.com/configuration, https://docs.hcaptcha.com/invisible
  hcaptcha: {
    script: 'https://js.hcaptcha.com/1/api.js?render=explicit',
    global: 'hcaptcha',
    languageOf: 'script',
    early: false,
    options: { size: 'invisible' },
  },
  // https://developers.google.com/recaptcha/docs/invisible
  recaptcha: {
    script: 'https://www.google.com/recaptcha/api.js?render=explicit',
    global: 'grecaptcha',
    languageOf: 'script',
    early: false,
    options: { size: 'invisible', badge: 'bottomright' },
    executeOptions: { action },
  },
};
