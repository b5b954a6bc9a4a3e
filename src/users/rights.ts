import type { Role, User } from './user.entity';

/** What decides whether a user gets into the administration: an administrator, or else the holder of a role. */
export type Rights = Readonly<Pick<User, 'isAdmin' | 'role'>>;

export const administrates = ({ isAdmin, role }: Rights): boolean => isAdmin || role !== null;

/** The role, undefined for an administrator and for a user without one. */
export const roleOf = ({ isAdmin, role }: Rights): Role | undefined => (isAdmin ? undefined : (role ?? undefined));

/** For the OpenAPI document. The answers name no list of values, so that a further role breaks no client. */
export const roleField = {
  ...{ type: 'string' as const, nullable: true, example: null },
  description:
    'What a user without `is_admin` may do in the administration: `help_desk`, `auditor`, or null for nothing.',
};
