import { createHash } from 'node:crypto';
import type { ParameterizedContext } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

function page(ctx: ParameterizedContext, title: string, body: string): void {
  ctx.type = 'html';
  ctx.body = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:28rem;margin:4rem auto;padding:0 1rem}</style>
${body}</html>`;
}

/** The pages of the portal show the rest (docs/spec/extensions.md#j). */
export function toPages(ctx: KoaContextWithOIDC, systemUrl: string, path: string, state?: string): void {
  ctx.status = 303;
  ctx.redirect(`${systemUrl}${path}${state === undefined ? '' : `?state=${state}`}`);
}

const submit = 'document.forms[0].submit()';
/** For the content security policy of the pages below the issuer. */
export const submitHash = `'sha256-${createHash('sha256').update(submit).digest('base64')}'`;

/** Sends a form of the package without a question. @param more a field that the package expects from a button */
export function sendForm(ctx: KoaContextWithOIDC, form: string, more = ''): void {
  page(
    ctx,
    'Continue',
    `${form.replace('</form>', `${more}<noscript><button>Continue</button></noscript></form>`)}<script>${submit}</script>`,
  );
}

export function askToSignOut(ctx: KoaContextWithOIDC, form: string): void {
  const button = '<button autofocus name="logout" value="yes">Sign out</button>';
  page(ctx, 'Sign out', `<h1>Sign out?</h1>${form.replace('</form>', `${button}</form>`)}`);
}

export function outagePage(ctx: ParameterizedContext): void {
  page(ctx, 'Not available', '<h1>The service cannot answer at the moment</h1><p>Try again in a moment.</p>');
}

export function errorPage(ctx: KoaContextWithOIDC, out: { error?: string; error_description?: string }): void {
  page(
    ctx,
    'The application sent a wrong request',
    `<h1>The application sent a wrong request</h1><p>Go back to the application and try again.</p>
<p><code>${escaped(out.error ?? '')}</code> ${escaped(out.error_description ?? '')}</p>`,
  );
}
