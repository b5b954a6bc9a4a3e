/**
 * `type` of a password change: first password, change by the user, forgotten, expired, change by an administrator
 * (docs/spec/service.md#2.5, docs/spec/decisions.md#9).
 */
export const changeType = { first: 0, own: 1, forgotten: 2, expired: 3, administrator: 9 } as const;
export type ChangeType = (typeof changeType)[keyof typeof changeType];

/** The types of a password change request. The mail with its link has the same type. */
export type RequestType = (typeof changeType)['first' | 'forgotten' | 'expired'];

/** The types of a password change that a login can demand. */
export type ForcedChangeType = (typeof changeType)['first' | 'expired'];
