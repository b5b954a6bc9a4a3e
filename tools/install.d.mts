/** Installs the packages of tools/package-lock.json, unless they are installed. */
export function installTools(): void;
