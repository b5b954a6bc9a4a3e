/** Licences of packages whose lock file entry names none. */
export const knownLicences: Readonly<Record<string, string>>;
