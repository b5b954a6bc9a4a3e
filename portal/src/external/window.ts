import type { Arrival } from './arrival';
import { awaited, channelName, type Told } from './told';

/** The browser did not open the window. */
export class BlockedError extends Error {
  override readonly name = 'BlockedError';
}

/**
 * Lets the user sign in in a window of its own, so that the page keeps what was typed. Call it in the handler of a click:
 * browsers open no window otherwise.
 * @param start begins the sign-in, and returns the address of the provider
 * @returns the answer; never, when the user closes the window: browsers do not tell (Cross-Origin-Opener-Policy)
 * @throws BlockedError
 */
export async function askInWindow(start: () => Promise<string>, signal: AbortSignal): Promise<Arrival> {
  const to = String(Math.random());
  awaited.set(to);
  const opened = window.open('about:blank', '_blank', 'popup,width=520,height=720');
  awaited.set(undefined);
  if (opened === null) throw new BlockedError('the browser did not open a window');
  const answered = answerFor(to, signal);
  // The refusal of the start is reported in its place.
  answered.catch(() => undefined);
  try {
    opened.location.replace(await start());
  } catch (error) {
    opened.close();
    throw error;
  }
  return answered;
}

function answerFor(to: string, signal: AbortSignal): Promise<Arrival> {
  const channel = new BroadcastChannel(channelName);
  return new Promise<Arrival>((resolve, reject) => {
    channel.onmessage = ({ data }: MessageEvent<Told>) => {
      if (data.to === to) resolve(data);
    };
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  }).finally(() => channel.close());
}
