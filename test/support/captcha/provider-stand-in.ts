import type { Page } from 'playwright-core';

/** The addresses that the providers document for their scripts. */
export const scripts = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
  hcaptcha: 'https://js.hcaptcha.com/1/api.js',
  recaptcha: 'https://www.google.com/recaptcha/api.js',
} as const;
export type WidgetProvider = keyof typeof scripts;

const globals = { turnstile: 'turnstile', hcaptcha: 'hcaptcha', recaptcha: 'grecaptcha' } as const;

/** What a challenge does: it makes a token, calls a callback of the widget, or never ends. */
export type Outcome = 'token' | 'result' | `${string}-callback` | 'nothing';

export interface Seen {
  readonly calls: string[];
  readonly options: Record<string, unknown>[];
}

/** The part of the documented script protocol that a page uses, with the outcomes that the test gives. */
const source = (name: string, outcomes: readonly Outcome[], visit: number) => `(() => {
  const seen = (window.captchaSeen = { calls: [], options: [] });
  const outcomes = ${JSON.stringify(outcomes)};
  const widgets = [];
  let tokens = 0;
  window.${name} = {
    render(element, options) {
      if (!element.isConnected || element.childNodes.length > 0) throw new Error('the element must be empty and shown');
      element.append(document.createElement('iframe'));
      widgets.push({ options, done: false });
      seen.options.push(JSON.parse(JSON.stringify(options)));
      return widgets.length - 1;
    },
    reset(id) {
      seen.calls.push('reset');
      widgets[id].done = false;
    },
    execute(id) {
      seen.calls.push('execute');
      const widget = widgets[id];
      if (widget.done) throw new Error('a widget needs a reset before its next token');
      widget.done = true;
      const outcome = outcomes.shift() ?? 'token';
      const token = 'visit-${visit}-token-' + ++tokens;
      if (outcome === 'result') return Promise.resolve(token);
      if (outcome === 'token')
        setTimeout(() => {
          widget.options.callback(token);
          seen.calls.push('token');
        });
      else if (outcome !== 'nothing') setTimeout(() => widget.options[outcome]('a reason'));
    },
    expire: () => widgets.at(-1).options['expired-callback'](),
  };
  window[new URL(document.currentScript.src).searchParams.get('onload')]();
})();`;

/** The service refuses a token that it has seen, so the tokens of two visits differ. */
let visits = 0;

/** Answers in place of the provider. Returns the addresses that the page asked for. */
export async function standIn(page: Page, provider: WidgetProvider, outcomes: readonly Outcome[] = []): Promise<URL[]> {
  const asked: URL[] = [];
  const visit = ++visits;
  await page.route(`${scripts[provider]}*`, async (route) => {
    asked.push(new URL(route.request().url()));
    await route.fulfill({ contentType: 'text/javascript', body: source(globals[provider], outcomes, visit) });
  });
  return asked;
}

export const seenBy = (page: Page): Promise<Seen> => page.evaluate<Seen>('window.captchaSeen');

export const expire = (page: Page, provider: WidgetProvider): Promise<void> =>
  page.evaluate<void>(`${globals[provider]}.expire()`);
