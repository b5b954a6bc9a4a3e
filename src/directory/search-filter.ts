const placeholder = '{{username}}';

/**
 * A value in a search filter (RFC 4515 §3). Braces are escaped too: ldapauth-fork replaces `{{username}}` in the finished
 * filter once more, by a text that `$` patterns reach into, and a name must not be able to bring a placeholder along.
 */
export function filterValue(text: string): string {
  return text.replace(/[\\*()\0{}]/g, (character) => `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** `LDAP_SEARCH_FILTER` for one name, with no placeholder left in it. */
export function filterFor(template: string, name: string): string {
  return template.split(placeholder).join(filterValue(name));
}

/** As `filterFor`, and the attribute that becomes the login name must be what was typed: no alias opens a second count. */
export function filterForUnknown(template: string, loginAttribute: string, name: string): string {
  return `(&${filterFor(template, name)}(${loginAttribute}=${filterValue(name)}))`;
}
