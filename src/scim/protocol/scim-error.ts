/** RFC 7644 §3.12, table 9: the kinds of errors that this service tells apart. */
export type ScimType =
  'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'noTarget' | 'tooMany' | 'uniqueness';

/** A refusal in the words of SCIM. The detail never has text of the request in it: it could be a secret. */
export class ScimError extends Error {
  override readonly name = 'ScimError';

  constructor(
    readonly status: number,
    readonly scimType: ScimType | undefined,
    readonly detail: string,
  ) {
    super(detail);
  }
}

export const invalidFilter = (detail: string) => new ScimError(400, 'invalidFilter', detail);
export const invalidPath = (detail: string) => new ScimError(400, 'invalidPath', detail);
export const invalidSyntax = (detail: string) => new ScimError(400, 'invalidSyntax', detail);
export const invalidValue = (detail: string) => new ScimError(400, 'invalidValue', detail);
export const preconditionFailed = () => new ScimError(412, undefined, 'the resource has changed: read it again');
export const unknownResource = () => new ScimError(404, undefined, 'there is no such resource');
export const identityProviderNotReady = (id: string) =>
  new ScimError(503, undefined, `SCIM_IDENTITY_PROVIDER: there is no enabled identity provider ${id}`);
