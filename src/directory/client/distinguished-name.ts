/** A character, an escaped one, or an escaped byte (RFC 4514 §2.4). */
const character = String.raw`(?:[^\\",+;<>\0]|\\(?:[0-9A-Fa-f]{2}|[\\" #+,;<=>]))`;
const value = `${character}+`;
const type = String.raw`(?:[A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)+)`;
const attribute = `${type} *= *(?:#(?:[0-9A-Fa-f]{2})+|${value})`;
const dn = new RegExp(`^ *${attribute}(?: *[,+] *${attribute})* *$`);

/** Whether the text is a DN with at least one part, as RFC 4514 writes it. Spaces around the separators are allowed. */
export function isDistinguishedName(text: string): boolean {
  return text.length <= 1024 && dn.test(text);
}
