import { CaptchaError } from './captcha-error';

const loadMs = 10_000;
const readyName = 'portalCaptchaReady';
let attempts = 0;

/**
 * Loads the script of a captcha provider. All three providers call the function whose name is in `onload`.
 * @throws CaptchaError after 10 s, or at once if the browser refuses the script
 */
export function loadScript(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    const fail = () => {
      clearTimeout(timer);
      script.remove();
      reject(new CaptchaError('blocked', `${new URL(address).origin} did not send its script`));
    };
    const timer = setTimeout(fail, loadMs);
    Object.assign(globalThis, {
      [readyName]: () => {
        clearTimeout(timer);
        resolve();
      },
    });
    const url = new URL(address);
    url.searchParams.set('onload', readyName);
    // A browser lets a second request for the same address wait for the first one, which may still hang.
    attempts += 1;
    if (attempts > 1) url.searchParams.set('attempt', String(attempts));
    script.src = url.href;
    script.async = true;
    script.onerror = fail;
    document.head.append(script);
  });
}
