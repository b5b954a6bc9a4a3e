/**
 * The name in a mail that an administrator causes, or anybody who knows the address. The administrator chooses the address and the names of an account, so
 * a nickname would carry any text to a stranger. A login name that is no single word, or looks like an address of the
 * web, is left out for the same reason.
 */
export function nameForMail({ loginName }: { readonly loginName: string }): string | null {
  const isWord = /^[\p{L}\p{M}\p{N}._@+'\\-]{1,64}$/u.test(loginName);
  return isWord && !/^www\./i.test(loginName) ? loginName : null;
}
