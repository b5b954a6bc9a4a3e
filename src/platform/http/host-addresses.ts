import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';

type Answer = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

const pending = new Map<string, Promise<LookupAddress[]>>();

/**
 * Looks up the addresses of a host. Parallel callers share one look-up: while the resolver is silent, a look-up
 * occupies one of the four threads of libuv. Many such look-ups would block all others, for example those of the
 * database and the mail server.
 */
export function addressesOf(host: string): Promise<LookupAddress[]> {
  const family = isIP(host);
  if (family !== 0) return Promise.resolve([{ address: host, family }]);
  const asked = pending.get(host) ?? lookUp(host);
  pending.set(host, asked);
  void asked.catch(() => undefined).finally(() => pending.get(host) === asked && pending.delete(host));
  return asked;
}

function lookUp(host: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });
}

/** Replaces `dns.lookup` for `net.connect` and `tls.connect`. */
export function sharedLookup(host: string, options: LookupOptions, done: Answer): void {
  addressesOf(host).then(
    (addresses) => {
      const [first] = addresses;
      if (options.all) done(null, addresses);
      else done(null, first?.address ?? '', first?.family);
    },
    (error: NodeJS.ErrnoException) => done(error, options.all ? [] : ''),
  );
}
