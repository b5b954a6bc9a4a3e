/** The section of a version. Throws an Error that says what the section lacks. */
export function releaseNotes(changelog: string, version: string, options?: { readonly links?: string }): string;
/** A line for each manifest of the release that has another version. */
export function otherVersions(version: string): string[];
