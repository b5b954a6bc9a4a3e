export function versionPlaces(
  version: string,
  write?: (path: string, text: string) => void,
): (readonly [path: string, version: string])[];

export function released(changelog: string, version: string, date: string, empty?: string): string;
