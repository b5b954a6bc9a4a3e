export const userIdPattern = '^[A-Za-z0-9_-]{1,36}$';

/** The uid of a user as the OpenAPI document describes it. */
export const userIdField = { pattern: userIdPattern, example: '0b9d2c4e-6a1f-4f3a-9c57-3d8e5b7a1c20' } as const;

const pattern = new RegExp(userIdPattern);

/**
 * Accepts the uids of users: the UUIDs that this service makes, and the ids that an import or an adoption keeps
 * (docs/spec/extensions.md#g). They are compared byte by byte.
 */
export function isUserId(value: unknown): value is string {
  return typeof value === 'string' && pattern.test(value);
}
