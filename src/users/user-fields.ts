import { tombstoneName } from '../platform/database/user-traces';
import { type User, userStatus } from './user.entity';

/** The columns of `users`, by the names of their properties. `user.entity.ts` has the name and the type of each. */
export type UserColumn = Exclude<keyof User, 'passwordSetAt'>;

interface Deletion {
  readonly uid: string;
  readonly at: Date;
}

/** What a deletion of the user does with the value: it sets another one, or keeps it for a reason. */
type Erasure<Value> =
  { readonly deletionSets: Value | ((deletion: Deletion) => Value) } | { readonly deletionKeeps: string };

interface Rules {
  /** Its name in the API, on the command line, in files to import and in audit rows. Nobody reads or gives one without it. */
  readonly wire?: string;
  /** A second name, which version 1.0.0 has on the command line and in files to import. */
  readonly formerly?: string;
  /** Administrators and operators see it: in lists and of one user, or only of one user. */
  readonly shown?: 'list' | 'detail';
  /** Its owner sees it in `GET /user/me`. The check of each token reads it. */
  readonly owner?: true;
  /** `user_info` of a login has it: always, masked until the session is open, or null until then. */
  readonly login?: 'always' | 'masked' | 'session';
  /** Who gives it to a new account. `administrators` includes operators and files to import, `operators` the files. */
  readonly creates?: 'administrators' | 'operators' | 'import' | 'directory';
  /** A new account need not have it. */
  readonly optional?: true;
  /** Administrators and operators change it. */
  readonly changes?: true;
  /** One line of plain text, at most as long as the column. Any other form has its rule in `UserAccounts`. */
  readonly text?: true;
  /** `migrate --adopt` reads it from a table. */
  readonly adopted?: true;
  /** A login of a directory user writes what the entry says. */
  readonly directory?: true;
}

/**
 * The keys of deleted users begin with this text. It sorts after every login name, so lists end before them, and no
 * look-up makes such a key, because keys are in lower case.
 */
export const tombstoneKeys = '\u{10FFFF}DELETED-';

/** What administrators and operators set, at the creation and later, and what the owner sees after a login. */
const managed = {
  shown: 'list',
  owner: true,
  login: 'session',
  creates: 'administrators',
  changes: true,
} as const satisfies Rules;

/** What only files to import bring from another system. */
const brought = { shown: 'list', creates: 'import', optional: true, adopted: true } as const satisfies Rules;

/**
 * The fields of a user. A column of `users` that is missing here does not compile. Rows, lists, the check of a token, the
 * erasure, the API, the command line and the import derive from this table, or a type holds them to it.
 */
export const userFields = {
  uid: {
    ...brought,
    wire: 'uid',
    owner: true,
    login: 'always',
    deletionKeeps: 'logs and other systems refer to it, and it says nothing about the person',
  },
  loginName: {
    wire: 'login_name',
    shown: 'list',
    owner: true,
    login: 'always',
    creates: 'administrators',
    adopted: true,
    directory: true,
    deletionSets: ({ uid }) => tombstoneName(uid),
  },
  loginNameKey: { deletionSets: ({ uid }) => `${tombstoneKeys}${uid}` },
  email: { ...managed, wire: 'email', login: 'masked', adopted: true, directory: true, deletionSets: null },
  emailKey: { deletionSets: null },
  provenEmailKey: { deletionSets: null },
  nickname: { ...managed, wire: 'nickname', text: true, adopted: true, directory: true, deletionSets: null },
  nicknameKey: { deletionSets: null },
  password: { deletionSets: null },
  salt: { deletionSets: null },
  status: {
    wire: 'status',
    shown: 'list',
    creates: 'operators',
    changes: true,
    adopted: true,
    deletionSets: userStatus.expired,
  },
  provider: {
    wire: 'provider',
    shown: 'list',
    creates: 'administrators',
    deletionKeeps: 'a write for a directory user names a condition that no tombstone meets (ADR 0025)',
  },
  isAdmin: { ...managed, wire: 'is_admin', deletionSets: false },
  role: { ...managed, wire: 'role', optional: true, deletionSets: null },
  mfaType: {
    wire: 'mfa_type',
    shown: 'list',
    owner: true,
    creates: 'administrators',
    changes: true,
    deletionSets: 'email',
  },
  tenantId: { ...managed, wire: 'tenant_id', deletionKeeps: 'administrators of the tenant find its log rows by it' },
  orgUnitId: { ...managed, wire: 'org_unit_id', deletionSets: null },
  language: {
    wire: 'language',
    shown: 'detail',
    creates: 'administrators',
    optional: true,
    changes: true,
    deletionSets: null,
  },
  createdAt: { ...brought, wire: 'created_at', deletionKeeps: 'a time alone identifies nobody' },
  lastLoginSuccessTime: {
    ...brought,
    wire: 'last_login_at',
    formerly: 'last_login_success_time',
    deletionKeeps: 'a time alone identifies nobody, and login_logs keeps it as well',
  },
  legacyLogin: { wire: 'legacy_login', creates: 'import', optional: true, adopted: true, deletionSets: false },
  mustChangePassword: { wire: 'must_change_password', shown: 'detail', deletionSets: false },
  loginFailedCount: { wire: 'failed_logins', formerly: 'login_failed_count', shown: 'detail', deletionSets: 0 },
  lastLoginFailedTime: {
    wire: 'last_failed_login_at',
    formerly: 'last_login_failed_time',
    shown: 'detail',
    deletionSets: null,
  },
  directoryId: { wire: 'directory_id', shown: 'detail', creates: 'directory', optional: true, deletionSets: null },
  identityProviderId: {
    wire: 'identity_provider',
    shown: 'list',
    creates: 'administrators',
    optional: true,
    deletionSets: null,
  },
  externalId: {
    wire: 'external_id',
    shown: 'detail',
    creates: 'administrators',
    optional: true,
    changes: true,
    text: true,
    deletionSets: null,
  },
  enabledAt: { deletionSets: null },
  directorySeenAt: { deletionSets: null },
  directoryLookUntil: { deletionSets: null },
  totpSecret: { deletionSets: null },
  mfaFailedCount: { deletionSets: 0 },
  mfaBlockedUntil: { deletionSets: null },
  credentialVersion: { deletionKeeps: 'the deletion increases it, which ends all that was issued to the user' },
  ownFactors: { deletionKeeps: 'a hint for the check of a token, and the tokens of the user have ended' },
  inGroups: { deletionSets: false },
  deletedAt: { deletionSets: ({ at }) => at },
  erasingSince: { deletionSets: ({ at }) => at },
  held: { deletionKeeps: 'a counter that locks the row' },
} as const satisfies { readonly [P in UserColumn]: Rules & Erasure<Exclude<User[P], undefined>> };

type Fields = typeof userFields;

/** The columns whose rules include `Rule`. */
export type Declaring<Rule> = { [P in UserColumn]: Fields[P] extends Rule ? P : never }[UserColumn];

/** The columns that have one of these values of a rule, in the order of the table. */
function declaring<K extends keyof Rules, const V extends Rules[K]>(
  rule: K,
  ...values: readonly V[]
): readonly Declaring<Readonly<Record<K, V>>>[] {
  const all = Object.entries(userFields) as [UserColumn, Rules][];
  const found = all.filter(([, rules]) => rules[rule] !== undefined && values.includes(rules[rule] as V));
  return found.map(([column]) => column as Declaring<Readonly<Record<K, V>>>);
}

export const listedFields = declaring('shown', 'list');
export const shownFields = declaring('shown', 'list', 'detail');
export const sessionFields = declaring('owner', true);
export const loginFields = declaring('login', 'always', 'masked', 'session');
/** Of a new account: those that an administrator gives in the API, and those that a file may have. */
export const createdFields = declaring('creates', 'administrators');
export const importedFields = declaring('creates', 'administrators', 'operators', 'import');
export const givenFields = declaring('creates', 'administrators', 'operators', 'import', 'directory');
export const changedFields = declaring('changes', true);
export const textFields = declaring('text', true);
export const adoptedFields = declaring('adopted', true);

/** One value for each of these fields. */
export function byField<P extends UserColumn, Value>(fields: readonly P[], of: (field: P) => Value): Record<P, Value> {
  return Object.fromEntries(fields.map((field) => [field, of(field)])) as Record<P, Value>;
}

/** What a deletion writes. Columns that keep their value are missing. */
export function erasedValues(deletion: Deletion): { readonly [P in UserColumn]?: User[P] } {
  const values = Object.entries(userFields).flatMap(([column, rules]) => {
    if (!('deletionSets' in rules)) return [];
    const { deletionSets: value } = rules;
    return [[column, typeof value === 'function' ? value(deletion) : value]];
  });
  return Object.fromEntries(values) as { readonly [P in UserColumn]?: User[P] };
}
