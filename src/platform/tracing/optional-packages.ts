/**
 * Loads packages that an installation may have left out.
 * @param what the setting that needs them, for the message
 * @throws Error when they are not installed
 */
export async function optionalPackages<T>(what: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new Error(
      `${what}, but the packages of OpenTelemetry are missing: install the optional dependencies, or remove the setting`,
      { cause },
    );
  }
}
