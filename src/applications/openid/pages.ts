import { createHash } from 'node:crypto';
import type { ParameterizedContext } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { type Language, negotiateLanguage, textsOf } from '../../shared/languages';

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

type Text = 'continue' | 'signOut' | 'signOutQuestion' | 'wrongRequest' | 'wrongRequestAdvice' | 'away' | 'awayAdvice';
type Texts = Readonly<Record<Text, string>>;

const loaded = new Map<Language, Texts>();

/** In the language that the browser asks for. */
function textsFor(language: Language): Texts {
  const known = loaded.get(language);
  if (known !== undefined) return known;
  const texts = (textsOf(language) as { readonly openid: Texts }).openid;
  loaded.set(language, texts);
  return texts;
}

function page(ctx: ParameterizedContext, title: Text, body: (texts: Texts) => string): void {
  const language = negotiateLanguage(ctx.get('accept-language'));
  const texts = textsFor(language);
  ctx.type = 'html';
  ctx.body = `<!doctype html><html lang="${language}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${texts[title]}</title><style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:28rem;margin:4rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}</style>
${body(texts)}</html>`;
}

/** The pages of the portal show the rest (docs/spec/extensions.md#j). */
export function toPages(ctx: KoaContextWithOIDC, systemUrl: string, path: string, state?: string): void {
  ctx.status = 303;
  ctx.redirect(`${systemUrl}${path}${state === undefined ? '' : `?state=${state}`}`);
}

const submit = 'document.forms[0].submit()';
/** For the content security policy of the pages below the issuer. */
export const submitHash = `'sha256-${createHash('sha256').update(submit).digest('base64')}'`;

/** Sends a form without a question. @param more a field that the package expects from a button */
export function sendForm(ctx: ParameterizedContext, form: string, more = ''): void {
  page(ctx, 'continue', (texts) => {
    const button = `${more}<noscript><button>${texts.continue}</button></noscript></form>`;
    return `${form.replace('</form>', button)}<script>${submit}</script>`;
  });
}

/** Sends a request by GET without a question. @param fields their names are known: one named `submit` would stop the script */
export function sendRequest(
  ctx: ParameterizedContext,
  url: string,
  fields: readonly (readonly [name: string, value: string])[],
): void {
  const inputs = fields.map(([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}"/>`);
  sendForm(ctx, `<form method="get" action="${escaped(url)}">${inputs.join('')}</form>`);
}

export function askToSignOut(ctx: KoaContextWithOIDC, form: string): void {
  page(ctx, 'signOut', (texts) => {
    const button = `<button autofocus name="logout" value="yes">${texts.signOut}</button></form>`;
    return `<h1>${texts.signOutQuestion}</h1>${form.replace('</form>', button)}`;
  });
}

export function outagePage(ctx: ParameterizedContext): void {
  page(ctx, 'away', (texts) => `<h1>${texts.away}</h1><p>${texts.awayAdvice}</p>`);
}

export function errorPage(ctx: ParameterizedContext, out: { error?: string; error_description?: string }): void {
  page(
    ctx,
    'wrongRequest',
    (texts) => `<h1>${texts.wrongRequest}</h1><p>${texts.wrongRequestAdvice}</p>
<p><code>${escaped(out.error ?? '')}</code> ${escaped(out.error_description ?? '')}</p>`,
  );
}
