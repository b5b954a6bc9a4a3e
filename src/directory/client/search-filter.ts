const placeholder = '{{username}}';

/**
 * Escapes a value for a search filter (RFC 4515 §3). Braces are escaped as well: ldapauth-fork replaces `{{username}}`
 * in the finished filter once more, and its replacement expands `$` patterns. A name must therefore not
 * contain a placeholder.
 */
export function filterValue(text: string): string {
  return text.replace(/[\\*()\0{}]/g, (character) => `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** `LDAP_SEARCH_FILTER` for one name. No placeholder is left in it. */
export function filterFor(template: string, name: string): string {
  return template.split(placeholder).join(filterValue(name));
}

/** Like `filterFor`. In addition, the attribute that becomes the login name must be this name. */
export function filterForExactName(template: string, loginAttribute: string, name: string): string {
  return `(&${filterFor(template, name)}(${loginAttribute}=${filterValue(name)}))`;
}
