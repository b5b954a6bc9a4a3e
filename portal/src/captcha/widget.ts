import type { CaptchaSource } from '../captcha';
import { CaptchaError, type CaptchaProblem } from './captcha-error';
import { loadScript } from './provider-script';
import { type Provider, providers, type WidgetApi, type WidgetId, type WidgetProvider } from './providers';

/** Time-out of a challenge. Without it a login could wait for ever: reCAPTCHA does not report a closed challenge. */
const challengeMs = 120_000;

interface Attempt {
  readonly resolve: (token: string) => void;
  readonly reject: (error: CaptchaError) => void;
}

interface Drawn {
  readonly id: WidgetId;
  readonly element: HTMLElement;
  /** Language and theme that the widget was drawn with. */
  readonly look: string;
  /** True when the widget has been executed. It then needs a reset before the next execution. */
  used: boolean;
}

/** The widget of a captcha provider, drawn by a script of that provider. It is invisible unless it needs the user. */
export class CaptchaWidget implements CaptchaSource {
  private readonly provider: Provider;
  private script: Promise<void> | undefined;
  private drawn: Drawn | undefined;
  private token: Promise<string> | undefined;
  private attempt: Attempt | undefined;

  constructor(
    name: WidgetProvider,
    private readonly siteKey: string,
    private readonly box: () => HTMLElement | null,
  ) {
    this.provider = providers[name];
  }

  prepare(): void {
    const prepared: Promise<unknown> = this.provider.early ? this.current() : this.load();
    prepared.catch(() => undefined);
  }

  async take(): Promise<string> {
    const token = await this.current().catch((error: unknown) => {
      // A challenge can fail before the user submits, so one more challenge is started.
      if (error instanceof CaptchaError && error.problem === 'failed') return this.current();
      throw error;
    });
    this.token = undefined;
    return token;
  }

  private current(): Promise<string> {
    if (this.token !== undefined) return this.token;
    const token = this.solve();
    this.token = token;
    token.catch(() => {
      if (this.token === token) this.token = undefined;
    });
    return token;
  }

  private async solve(): Promise<string> {
    await this.load();
    const widget = this.draw();
    if (widget.used) this.api.reset(widget.id);
    widget.used = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      return await new Promise<string>((resolve, reject) => {
        this.attempt = { resolve, reject };
        timer = setTimeout(() => this.fail('unfinished'), challengeMs);
        void Promise.resolve(this.api.execute(widget.id, this.provider.executeOptions)).then(
          (result) => typeof result === 'string' && result !== '' && resolve(result),
          () => this.fail('failed'),
        );
      });
    } finally {
      clearTimeout(timer);
    }
  }

  private get api(): WidgetApi {
    return (globalThis as unknown as Record<string, WidgetApi>)[this.provider.global]!;
  }

  private load(): Promise<void> {
    const { script, languageOf } = this.provider;
    const address = languageOf === 'script' ? `${script}&hl=${document.documentElement.lang}` : script;
    this.script ??= loadScript(address).catch((error: unknown) => {
      this.script = undefined;
      throw error;
    });
    return this.script;
  }

  /** Draws the widget again if the form is new, or if the user has chosen another language or theme. */
  private draw(): Drawn {
    const box = this.box();
    if (box === null) throw new CaptchaError('unfinished', 'the user has left the login page');
    const { lang } = document.documentElement;
    const theme = currentTheme();
    const look = `${lang} ${theme}`;
    if (this.drawn?.element.parentElement === box && this.drawn.look === look) return this.drawn;
    const element = document.createElement('div');
    box.replaceChildren(element);
    const id = this.api.render(element, {
      ...this.provider.options,
      ...(this.provider.languageOf === 'widget' && { language: lang }),
      theme,
      sitekey: this.siteKey,
      callback: (token: string) => this.attempt?.resolve(token),
      'expired-callback': () => this.expired(),
      // Turnstile writes an error to the console unless this returns true.
      'error-callback': () => this.fail('failed'),
      'unsupported-callback': () => this.fail('failed'),
      'timeout-callback': () => this.fail('unfinished'),
      'chalexpired-callback': () => this.fail('unfinished'),
      'close-callback': () => this.fail('unfinished'),
    });
    this.drawn = { id, element, look, used: false };
    return this.drawn;
  }

  private fail(problem: CaptchaProblem): true {
    this.attempt?.reject(new CaptchaError(problem, 'the captcha widget gave no token'));
    return true;
  }

  /** Discards a token that was not used in time. Prepares the next one if that is possible before the user submits. */
  private expired(): void {
    this.token = undefined;
    if (this.provider.early) this.prepare();
  }
}

function currentTheme(): string {
  const { theme } = document.documentElement.dataset;
  return theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
}
