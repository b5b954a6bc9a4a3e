/** One line of LDIF. The value is in base64, so that it may contain any character. */
export function attribute(key: string, value: string | Buffer): string {
  return `${key}:: ${Buffer.from(value as string).toString('base64')}`;
}

/** Escapes a value for a DN (RFC 4514 §2.4). */
export function dnValue(text: string): string {
  return text.replace(/[,+"\\<>;=#]/g, '\\$&');
}
