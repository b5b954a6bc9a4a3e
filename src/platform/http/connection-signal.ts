import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { ClientGone } from '../../shared/errors/client-gone';

const signals = new WeakMap<Socket, AbortSignal>();

/**
 * Returns a signal that aborts with ClientGone when either side closes the connection. All requests of a connection
 * that is kept alive share one signal, and the end of an answer does not abort it. The `close` events of the
 * request and the response do not fit: a request emits `close` when its body has been read, and a response emits no
 * `close` while an earlier response of the connection is pending.
 */
export function connectionSignal(socket: Socket): AbortSignal {
  const known = signals.get(socket);
  if (known !== undefined) return known;
  const controller = new AbortController();
  const { signal } = controller;
  // Each waiting request adds one listener, and a client may pipeline many requests. Node would warn of a leak.
  setMaxListeners(0, signal);
  if (socket.destroyed) controller.abort(new ClientGone());
  else socket.once('close', () => controller.abort(new ClientGone()));
  signals.set(socket, signal);
  return signal;
}
