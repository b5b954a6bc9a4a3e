import type { UserOrder, UserSearchField } from '../../users/provisioned-users';
import type { SearchedAttributes } from '../protocol/filter-search';

/** The attributes of a user that a filter may name: those with an index. */
export const searchedUserAttributes: SearchedAttributes<UserSearchField> = new Map([
  ['id', { field: 'uid' }],
  ['username', { field: 'loginName' }],
  ['externalid', { field: 'externalId' }],
  ['displayname', { field: 'nickname' }],
  ['emails', { field: 'email' }],
  ['emails.value', { field: 'email' }],
  ['active', { field: 'enabled', as: 'flag', equality: true }],
  ['meta.created', { field: 'createdAt', as: 'time' }],
]);

/** The attributes by which users are sorted: those with an index in their order. */
export const userOrders: ReadonlyMap<string, UserOrder> = new Map([
  ['username', 'loginName'],
  ['displayname', 'nickname'],
  ['emails', 'email'],
  ['emails.value', 'email'],
]);
