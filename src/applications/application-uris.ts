import { isIP } from 'node:net';
import type { ApplicationType } from './application.entity';
import { bareHost, isNever } from '../platform/http/address-kind';
import { urlOf } from '../shared/url-text';

/** Of one URI. A list of 20 fits into its column. */
const maxUri = 2048;
/** RFC 3986. Quotation marks, backslashes and spaces are not among them, so the JSON of a list is not longer than its texts. */
const uriCharacters = /^[\w.~:/?#[\]@!$&'()*+,;=%-]+$/;
const loopbackAddresses = ['127.0.0.1', '[::1]'];
const loopbackNames = [...loopbackAddresses, 'localhost'];

export interface UriPlace {
  readonly type: ApplicationType;
  readonly production: boolean;
}

/**
 * The provider compares redirect URIs as texts, so only the normal form of a URL is stored: what no client sends is a mistake.
 * `native` may have http on a loopback address, where the provider accepts any port (RFC 8252 section 7.3).
 * @returns what is wrong, or undefined
 */
export function redirectUriProblem(text: string, { type, production }: UriPlace): string | undefined {
  const url = webUrlOf(text);
  if (typeof url === 'string') return url;
  if (url.href.includes('#')) return 'must not have a fragment';
  // The provider refuses every request of an application that has such an address.
  if (type === 'native' && url.protocol === 'https:' && loopbackNames.includes(url.hostname))
    return 'must be http://127.0.0.1 or http://[::1] on this machine';
  if (url.protocol === 'https:') return undefined;
  const loopback = type === 'native' ? loopbackAddresses : production ? [] : loopbackNames;
  if (url.protocol === 'http:' && loopback.includes(url.hostname)) return undefined;
  return type === 'native'
    ? 'must be https, or http://127.0.0.1 or http://[::1] with any port'
    : `must be https${production ? '' : ', or http on this machine'}`;
}

/** Where the service itself sends a logout token. Addresses of a private network are usual there. */
export function backchannelUriProblem(text: string, place: UriPlace): string | undefined {
  const problem = webAddressProblem(text, place);
  if (problem !== undefined) return problem;
  if (text.includes('#')) return 'must not have a fragment';
  const host = bareHost(new URL(text).hostname);
  return isIP(host) !== 0 && isNever(host) ? 'must not be a link-local address' : undefined;
}

/** Of a page or a picture that browsers open. */
export function webAddressProblem(text: string, { production }: UriPlace): string | undefined {
  const url = webUrlOf(text);
  if (typeof url === 'string') return url;
  if (url.protocol === 'https:') return undefined;
  if (!production && url.protocol === 'http:' && loopbackNames.includes(url.hostname)) return undefined;
  return `must be https${production ? '' : ', or http on this machine'}`;
}

/** A resource for which an application may ask tokens (RFC 8707 section 2). It is a name: nobody opens it. */
export function resourceProblem(text: string): string | undefined {
  if (text.length > maxUri) return `must have at most ${maxUri} characters`;
  if (!uriCharacters.test(text) || !/^[a-z][a-z0-9+.-]*:./i.test(text) || urlOf(text) === undefined) {
    return 'must be an absolute URI, for example https://api.example.com';
  }
  if (text.includes('*')) return 'must not have a wildcard';
  return text.includes('#') ? 'must not have a fragment' : undefined;
}

function webUrlOf(text: string): URL | string {
  if (text.length > maxUri) return `must have at most ${maxUri} characters`;
  if (!uriCharacters.test(text)) return 'must have only the characters of a URL: others are percent-encoded (RFC 3986)';
  if (text.includes('*')) return 'must not have a wildcard';
  const url = urlOf(text);
  if (url === undefined) return 'must be an absolute URL';
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password';
  // `https://app.example.com` has the normal form with a slash, and no client sends that one.
  return [text, `${text}/`].includes(url.href) ? url : `must be in its normal form: ${url.href}`;
}
