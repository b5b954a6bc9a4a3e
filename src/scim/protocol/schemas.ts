export const schemas = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  enterprise: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
} as const;

/**
 * The name of an attribute without the URN of its schema. One of the enterprise extension becomes `enterprise.department`. Clients
 * write a colon after the URN, and Entra ID wrote a dot before December 2018.
 */
export function attributeKey(name: string): string {
  for (const [urn, prefix] of urns) {
    if (!name.toLowerCase().startsWith(urn)) continue;
    const rest = name.slice(urn.length);
    if (rest === '') return prefix;
    if (/^[:.]/.test(rest)) return prefix === '' ? rest.slice(1) : `${prefix}.${rest.slice(1)}`;
  }
  return name;
}

const urns = [
  [schemas.enterprise.toLowerCase(), 'enterprise'],
  [schemas.user.toLowerCase(), ''],
  [schemas.group.toLowerCase(), ''],
] as const;
