import type { IncomingMessage } from 'node:http';
import type { ParameterizedContext } from 'koa';
import { errorPage, sendRequest } from './pages';

/** In bytes, of the form and of the URL that it becomes. A proxy with defaults takes a line of 8 KB. */
const longest = 7000;

const ofSignIn =
  'acr_values claims_locales client_id code_challenge code_challenge_method display dpop_jkt id_token_hint login_hint max_age nonce ' +
  'prompt redirect_uri registration request request_uri resource response_mode response_type scope state ui_locales';
const ofSignOut = 'client_id id_token_hint logout_hint post_logout_redirect_uri state ui_locales';

/** What the provider reads from a request. Anything else, such as a secret, does not get into the URL. */
const read: ReadonlyMap<string, readonly string[]> = new Map([
  ['/auth', ofSignIn.split(' ')],
  ['/session/end', ofSignOut.split(' ')],
]);

/**
 * A page of an application may send a request as a form (OpenID Connect Core §3.1.2.1, RP-Initiated Logout 1.0). The browser sends no
 * cookie of the provider with it (`SameSite=Lax`), but does with the GET of the page that answers. A redirect would have the whole request
 * in a header, where proxies allow 4 KB.
 */
export const postedRequests =
  (issuer: string) =>
  async (ctx: ParameterizedContext, next: () => Promise<unknown>): Promise<void> => {
    const path = ctx.path.toLowerCase();
    const names = ctx.method === 'POST' ? read.get(path) : undefined;
    if (names === undefined) return next() as Promise<void>;
    if (!ctx.is('application/x-www-form-urlencoded')) return refuse(ctx, 400, 'the request is no form');
    const form = await textOf(ctx.req);
    const fields = [...new URLSearchParams(form)].filter(([name]) => names.includes(name));
    const url = `${issuer}${path}?${new URLSearchParams(fields).toString()}`;
    // The rest of the form is not read, so the connection cannot carry another request.
    if (form === undefined) ctx.set('connection', 'close');
    if (form === undefined || url.length > longest)
      return refuse(ctx, 413, `the form, or its URL, is longer than ${longest} bytes`);
    sendRequest(ctx, `${issuer}${path}`, fields);
  };

function refuse(ctx: ParameterizedContext, status: number, description: string): void {
  ctx.status = status;
  errorPage(ctx, { error: 'invalid_request', error_description: description });
}

/** Undefined: it is too long. */
async function textOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longest) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
