/** A request as the documentation of the client shows it, and what the service answers. */
export interface Recorded {
  /** The title of the page, and of its section. */
  readonly from: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{user}`, `{other}` and `{group}` stand for ids. */
  readonly path: string;
  readonly body?: object;
  readonly status: number;
  /** A part of the answer. */
  readonly answers?: object;
  /** A part of the user, or of the group of the path, afterwards. */
  readonly leaves?: object;
}

const entra = 'Tutorial: Develop and plan provisioning for a SCIM endpoint in Microsoft Entra ID';
const issues =
  'Known issues and resolutions with SCIM 2.0 protocol compliance of the Microsoft Entra user provisioning service';
const okta = 'Okta and SCIM Version 2.0';

const patch = (...operations: object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
});
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** Requests about a user whom `{user}` names, in the order in which they are sent. */
export const userRequests: readonly Recorded[] = [
  {
    from: `${entra}: Get User`,
    ...{ method: 'GET', path: '/Users/{user}', status: 200 },
    answers: { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], id: '{user}', meta: { resourceType: 'User' } },
  },
  {
    from: `${entra}: Get User, user not found`,
    ...{ method: 'GET', path: '/Users/5171a35d82074e068ce2', status: 404 },
    answers: { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '404' },
  },
  {
    from: `${entra}: Get User by query, zero results`,
    ...{ method: 'GET', path: '/Users?filter=userName eq "non-existent user"', status: 200 },
    answers: {
      ...{ schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'], totalResults: 0, Resources: [] },
      ...{ startIndex: 1, itemsPerPage: 0 },
    },
  },
  {
    from: `${entra}: Update User, multi-valued properties`,
    ...{ method: 'PATCH', path: '/Users/{user}', status: 200 },
    body: patch(
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@microsoft.com' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
    ),
    answers: { emails: [{ value: 'updatedEmail@microsoft.com', type: 'work', primary: true }] },
  },
  {
    from: `${entra}: Update User, single-valued properties`,
    ...{ method: 'PATCH', path: '/Users/{user}', status: 200 },
    body: patch({ op: 'Replace', path: 'userName', value: '5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.com' }),
    answers: { userName: '5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.com' },
  },
  {
    from: `${entra}: Get User by query`,
    ...{ method: 'GET', path: '/Users?filter=userName eq "5B50642D-79fc-4410-9e90-4c077cdd1a59@testuser.com"' },
    ...{ status: 200, answers: { totalResults: 1, Resources: [{ id: '{user}' }] } },
  },
  {
    from: `${entra}: /Users, a filter of the address`,
    ...{ method: 'GET', path: '/Users?filter=emails[type eq "work"].value eq "updatedemail@microsoft.com"' },
    ...{ status: 200, answers: { totalResults: 1, Resources: [{ id: '{user}' }] } },
  },
  {
    from: `${entra}: Disable User`,
    ...{ method: 'PATCH', path: '/Users/{user}', status: 200 },
    body: patch({ op: 'Replace', path: 'active', value: false }),
    answers: { active: false },
  },
  {
    from: `${entra}: a user is returned whether or not it is active`,
    ...{ method: 'GET', path: '/Users/{user}', status: 200, answers: { active: false } },
  },
  {
    from: `${okta}: Update a specific User (PATCH), the user is activated`,
    ...{ method: 'PATCH', path: '/Users/{user}', status: 200 },
    body: patch({ op: 'replace', value: { active: true } }),
    answers: { active: true },
  },
  {
    from: `${issues}: Requests made to disable users, without the flag`,
    ...{ method: 'PATCH', path: '/Users/{user}', status: 200 },
    body: patch({ op: 'Replace', path: 'active', value: 'False' }),
    answers: { active: false },
  },
  {
    from: `${issues}: Requests made to disable users, without the flag: restored`,
    ...{ method: 'PATCH', path: '/Users/{user}', status: 200 },
    body: patch({ op: 'Replace', path: 'active', value: 'True' }),
    answers: { active: true },
  },
  {
    from: `${issues}: Requests made to add a single-value string attribute`,
    ...{ method: 'PATCH', path: '/Users/{user}', status: 200 },
    body: patch({ op: 'Add', path: 'nickName', value: 'Babs' }),
    answers: { active: true },
  },
  {
    from: `${issues}: Requests to replace multiple attributes, without the flag`,
    ...{ method: 'PATCH', path: '/Users/{user}', status: 200 },
    body: patch(
      { op: 'Replace', path: 'displayName', value: 'Pvlo' },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'TestBcwqnm@test.microsoft.com' },
      { op: 'Replace', path: 'name.givenName', value: 'Gtfd' },
      { op: 'Replace', path: 'name.familyName', value: 'Pkqf' },
      { op: 'Replace', path: 'externalId', value: 'Eqpj' },
      { op: 'Replace', path: `${enterprise}:employeeNumber`, value: 'Eqpj' },
    ),
    answers: {
      ...{ displayName: 'Pvlo', externalId: 'Eqpj' },
      emails: [{ value: 'TestBcwqnm@test.microsoft.com', type: 'work', primary: true }],
    },
  },
  {
    from: `${issues}: Requests to replace multiple attributes, with the flag`,
    ...{ method: 'PATCH', path: '/Users/{user}', status: 200 },
    body: patch(
      { op: 'replace', path: 'emails[type eq "work"].value', value: 'TestMhvaes@test.microsoft.com' },
      {
        op: 'replace',
        value: {
          ...{ displayName: 'Bjfe', 'name.givenName': 'Kkom', 'name.familyName': 'Unua' },
          [`${enterprise}:employeeNumber`]: 'Aklq',
        },
      },
    ),
    answers: { displayName: 'Bjfe', emails: [{ value: 'TestMhvaes@test.microsoft.com' }] },
  },
  {
    from: `${entra}: the externalId as a matching attribute`,
    ...{ method: 'GET', path: '/Users?filter=externalId eq "Eqpj"', status: 200 },
    answers: { totalResults: 1, Resources: [{ id: '{user}' }] },
  },
  {
    from: `${okta}: Retrieve Users`,
    ...{ method: 'GET', path: '/Users?startIndex=1&count=100', status: 200 },
    answers: { startIndex: 1 },
  },
  {
    from: `${okta}: Update a specific User (PUT)`,
    ...{ method: 'PUT', path: '/Users/{user}', status: 200 },
    body: {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      ...{ id: '{user}', userName: 'put.user@okta.local' },
      name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
      emails: [{ primary: true, value: 'put.user@okta.local', type: 'work', display: 'put.user@okta.local' }],
      ...{ active: true, groups: [], meta: { resourceType: 'User' } },
    },
    answers: { userName: 'put.user@okta.local', active: true, emails: [{ value: 'put.user@okta.local' }] },
  },
  {
    from: `${okta}: Update a specific User (PATCH), the user is deactivated`,
    ...{ method: 'PATCH', path: '/Users/{user}', status: 200 },
    body: patch({ op: 'replace', value: { active: false } }),
    answers: { active: false },
  },
  { from: `${entra}: Delete User`, method: 'DELETE', path: '/Users/{user}', status: 204 },
  { from: `${entra}: Get User, user not found`, method: 'GET', path: '/Users/{user}', status: 404 },
];

/** Requests about a group whom `{group}` names, and two users who are there. */
export const groupRequests: readonly Recorded[] = [
  {
    from: `${entra}: Get Group`,
    ...{ method: 'GET', path: '/Groups/{group}?excludedAttributes=members', status: 200 },
    answers: {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      id: '{group}',
      meta: { resourceType: 'Group' },
    },
  },
  {
    from: `${entra}: Get Group by displayName`,
    ...{ method: 'GET', path: '/Groups?excludedAttributes=members&filter=displayName eq "displayName"', status: 200 },
    answers: { totalResults: 1, Resources: [{ id: '{group}', displayName: 'displayName' }] },
  },
  {
    from: `${entra}: Update Group, non-member attributes`,
    ...{ method: 'PATCH', path: '/Groups/{group}', status: 204 },
    body: patch({
      ...{ op: 'Replace', path: 'displayName' },
      value: '1879db59-3bdf-4490-ad68-ab880a269474updatedDisplayName',
    }),
    leaves: { displayName: '1879db59-3bdf-4490-ad68-ab880a269474updatedDisplayName' },
  },
  {
    from: `${entra}: Update Group, add members`,
    ...{ method: 'PATCH', path: '/Groups/{group}', status: 204 },
    body: patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: '{user}' }] }),
    leaves: { members: [{ value: '{user}' }] },
  },
  {
    from: `${entra}: the query of a member`,
    ...{ method: 'GET', path: '/Groups?filter=id eq "{group}" and members eq "{user}"', status: 200 },
    answers: { totalResults: 1, Resources: [{ id: '{group}' }] },
  },
  {
    from: `${issues}: Requests made to remove a group member, without the flag`,
    ...{ method: 'PATCH', path: '/Groups/{group}', status: 204 },
    body: patch({ op: 'Remove', path: 'members', value: [{ value: '{user}' }] }),
    leaves: { members: [] },
  },
  {
    from: `${okta}: Update specific Group membership, a full push`,
    ...{ method: 'PATCH', path: '/Groups/{group}', status: 204 },
    body: patch({
      ...{ op: 'replace', path: 'members' },
      value: [{ value: '{user}', display: 'test.user@okta.local' }],
    }),
    leaves: { members: [{ value: '{user}' }] },
  },
  {
    from: `${okta}: Update specific Group membership (PATCH)`,
    ...{ method: 'PATCH', path: '/Groups/{group}', status: 204 },
    body: patch(
      { op: 'remove', path: 'members[value eq "{user}"]' },
      { op: 'add', path: 'members', value: [{ value: '{other}', display: 'test.user@okta.local' }] },
    ),
    leaves: { members: [{ value: '{other}' }] },
  },
  {
    from: `${issues}: Requests made to remove a group member, with the flag`,
    ...{ method: 'PATCH', path: '/Groups/{group}', status: 204 },
    body: patch({ op: 'remove', path: 'members[value eq "{other}"]' }),
    leaves: { members: [] },
  },
  {
    from: `${okta}: Update a specific Group name`,
    ...{ method: 'PATCH', path: '/Groups/{group}', status: 204 },
    body: patch({ op: 'replace', value: { id: '{group}', displayName: 'Test SCIMv2' } }),
    leaves: { displayName: 'Test SCIMv2' },
  },
  {
    from: `${okta}: Update specific Group membership (PUT)`,
    ...{ method: 'PUT', path: '/Groups/{group}', status: 200 },
    body: {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      ...{ displayName: 'Test SCIMv2', members: [{ value: '{user}', display: 'test.user@okta.local' }] },
    },
    answers: { displayName: 'Test SCIMv2', members: [{ value: '{user}' }] },
  },
  {
    from: `${okta}: Retrieve Groups`,
    ...{ method: 'GET', path: '/Groups?filter=displayName%20eq%20%22Test%20SCIMv2%22&startIndex=1&count=100' },
    ...{ status: 200, answers: { totalResults: 1, startIndex: 1, itemsPerPage: 1 } },
  },
  { from: `${okta}: Delete a specific Group`, method: 'DELETE', path: '/Groups/{group}', status: 204 },
  { from: `${entra}: Delete Group`, method: 'GET', path: '/Groups/{group}', status: 404 },
];

/** The bodies of creations. */
export const creations = {
  entraUser: {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', enterprise],
    externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    userName: 'Test_User_00aa00aa-bb11-cc22-dd33-44ee44ee44ee',
    active: true,
    emails: [
      {
        ...{ primary: true, type: 'work' },
        value: 'Test_User_11bb11bb-cc22-dd33-ee44-55ff55ff55ff@testuser.com',
      },
    ],
    meta: { resourceType: 'User' },
    name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
    roles: [],
  },
  oktaUser: {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'test.user@okta.local',
    name: { givenName: 'Test', familyName: 'User' },
    emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
    displayName: 'Test User',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    groups: [],
    password: '1mz050nq',
    active: true,
  },
  entraGroup: {
    schemas: [
      'urn:ietf:params:scim:schemas:core:2.0:Group',
      'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
    ],
    externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
    displayName: 'displayName',
    meta: { resourceType: 'Group' },
  },
  oktaGroup: { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'Test SCIMv2', members: [] },
};
