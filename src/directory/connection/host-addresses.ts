import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

type Answer = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

const underWay = new Map<string, Promise<LookupAddress[]>>();

/**
 * One question a host at a time. A look-up occupies one of the four threads of libuv's pool for as long as the resolver is
 * silent: many at once would stop whatever else needs them, the look-ups of the database and of the mail server too.
 */
export function addressesOf(host: string): Promise<LookupAddress[]> {
  const family = isIP(host);
  if (family !== 0) return Promise.resolve([{ address: host, family }]);
  const asked = underWay.get(host) ?? lookup(host, { all: true });
  underWay.set(host, asked);
  void asked.catch(() => undefined).finally(() => underWay.get(host) === asked && underWay.delete(host));
  return asked;
}

/** For `net.connect`, in the place of `dns.lookup`. */
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
