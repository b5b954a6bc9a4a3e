const longest = 500;

/**
 * The text of a mail server on one line, without the user name and the password in the forms in which SMTP sends them
 * (RFC 4954, RFC 4616), should the server repeat them.
 */
export function withoutCredentials(
  reply: string,
  auth: { readonly user: string; readonly pass: string } | undefined,
): string {
  const line = reply.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const hidden = auth === undefined ? [] : [auth.pass, auth.user];
  const forms = [
    ...(auth === undefined ? [] : [base64(`\0${auth.user}\0${auth.pass}`)]),
    ...hidden.flatMap((text) => [base64(text), text, text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()]),
  ].filter((text) => text !== '');
  // The longest form first: a short one may be a part of it.
  const ordered = forms.sort((a, b) => b.length - a.length);
  return ordered.reduce((text, form) => text.replaceAll(form, '***'), line).slice(0, longest);
}
