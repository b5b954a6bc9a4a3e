import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { ClientGone } from '../../shared/errors/client-gone';

const signals = new WeakMap<Socket, AbortSignal>();

/**
 * Fires with ClientGone when the connection closes, whoever closed it. There is one signal for each connection: the
 * requests of a connection that is kept alive share it, and the end of an answer does not fire it. (The `close` event of a
 * request comes when its body was read, that of a response never comes while an earlier one of the connection is due.)
 */
export function connectionSignal(socket: Socket): AbortSignal {
  const known = signals.get(socket);
  if (known !== undefined) return known;
  const controller = new AbortController();
  const { signal } = controller;
  // One listener for each request that waits, and a client may pipeline many: that is no leak.
  setMaxListeners(0, signal);
  if (socket.destroyed) controller.abort(new ClientGone());
  else socket.once('close', () => controller.abort(new ClientGone()));
  signals.set(socket, signal);
  return signal;
}
