import type { Operation } from './operations';

export interface FuzzRequest {
  readonly operation: Operation | undefined;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer;
  /** Whether the access token of the lane is its credential, so that a 401 means that the session has ended. */
  readonly as?: 'user' | 'admin';
}

/** The bytes of the request. Content-Length fits the body. */
export function bytesOf({ method, target, headers, body }: FuzzRequest): Buffer {
  const length = body === undefined ? [] : [`Content-Length: ${body.length}`];
  const fields = headers.map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${target} HTTP/1.1`, 'Host: localhost', ...fields, ...length, '', ''].join('\r\n');
  const bytes = Buffer.from(head, 'latin1');
  return body === undefined ? bytes : Buffer.concat([bytes, body]);
}

/** A header value that HTTP allows: printable ASCII. */
export const headerText = (text: string): string => text.replace(/[^ -~]/g, '?').trim();
