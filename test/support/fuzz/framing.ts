export interface RequestLine {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
}

const requestLine = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (\/[!-~]*) HTTP\/1\.[01]$/;
const field = /^([A-Za-z0-9-]+): [ -~]*$/;
const blank = Buffer.from('\r\n\r\n');

/** `whole`: every reader sees exactly one request. `short`: bytes are missing. `unclear`: it depends on the reader. */
export type Framing = 'whole' | 'short' | 'unclear';

/** The method and the target, if every reader finds the same ones. */
export function requestLineOf(bytes: Buffer): RequestLine | undefined {
  const end = bytes.indexOf('\r\n');
  const [, method, target] = requestLine.exec(bytes.subarray(0, Math.max(0, end)).toString('latin1')) ?? [];
  return method === undefined || target === undefined ? undefined : { method, target };
}

/** The answer to a body that is too large may get lost: the service does not read the rest, so its end is a reset. */
const longestBody = 12_000;

/** How a server has to read the bytes as one request. It is `unclear` for everything that is not plain. */
export function framingOf(bytes: Buffer): Framing {
  const end = bytes.indexOf(blank);
  if (end === -1) return 'short';
  const [first = '', ...fields] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  if (!requestLine.test(first) || !first.endsWith('1.1')) return 'unclear';
  const names = fields.map((one) => field.exec(one)?.[1]?.toLowerCase());
  if (names.includes(undefined) || names.length > 150 || end > 12_000) return 'unclear';
  if (names.filter((name) => name === 'host').length !== 1) return 'unclear';
  if (names.some((name) => ['transfer-encoding', 'expect', 'upgrade', 'connection'].includes(name!))) return 'unclear';
  const lengths = fields.filter((_, n) => names[n] === 'content-length').map((one) => one.slice(16));
  if (lengths.length > 1 || lengths.some((length) => !/^\d{1,6}$/.test(length))) return 'unclear';
  if (bytes.length - end > longestBody) return 'unclear';
  const missing = Number(lengths[0] ?? 0) - (bytes.length - end - blank.length);
  if (missing === 0) return 'whole';
  return missing > 0 ? 'short' : 'unclear';
}
