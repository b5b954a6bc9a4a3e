import type { ParameterizedContext } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { errorPage } from './pages';

/** Of the request that follows, the whole head may have 16 KiB. */
const longest = 8192;

/**
 * A page of an application may send a request as a form (OpenID Connect Core §3.1.2.1, RP-Initiated Logout 1.0). The browser sends no
 * cookie of the provider with it (`SameSite=Lax`), but does with the GET that follows.
 */
export const postedRequests =
  (issuer: string) =>
  async (ctx: ParameterizedContext, next: () => Promise<unknown>): Promise<void> => {
    if (ctx.method !== 'POST' || !/^\/(?:auth|session\/end)$/i.test(ctx.path)) return next() as Promise<void>;
    const form = ctx.is('application/x-www-form-urlencoded') ? await textOf(ctx) : undefined;
    if (form === undefined) {
      ctx.status = 400;
      const description = `the request is no form of at most ${longest} bytes`;
      errorPage(ctx as KoaContextWithOIDC, { error: 'invalid_request', error_description: description });
      return;
    }
    ctx.status = 303;
    ctx.redirect(`${issuer}${ctx.path}?${new URLSearchParams(form).toString()}`);
  };

/** Undefined: it is too long, or does not tell its length, as each form of a browser does. */
async function textOf({ request, req }: ParameterizedContext): Promise<string | undefined> {
  if (request.length === undefined || request.length > longest) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
