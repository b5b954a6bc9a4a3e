export type WidgetProvider = 'turnstile' | 'hcaptcha' | 'recaptcha';
export type WidgetId = string | number;

/** What the global objects of the three providers have in common. */
export interface WidgetApi {
  render(element: HTMLElement, options: Readonly<Record<string, unknown>>): WidgetId;
  /** The token comes to the callback of `render`. With a key of reCAPTCHA v3 it is the result. */
  execute(id: WidgetId, options?: Readonly<Record<string, unknown>>): unknown;
  reset(id: WidgetId): void;
}

export interface Provider {
  readonly script: string;
  readonly global: string;
  /** The name of the page's language in the address of the script or in the options of the widget. */
  readonly languageOf: 'script' | 'widget';
  /** The challenge can run before the user submits: it shows nothing unless it needs the user. */
  readonly early: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  readonly executeOptions?: Readonly<Record<string, unknown>>;
}

/** The value for `CAPTCHA_EXPECTED_ACTION`, where an operator wants the service to check it. */
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
