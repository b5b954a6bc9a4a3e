/** A choice that is remembered where the browser allows it, and otherwise until the page is left. */
export function remembered<T extends string>(key: string, choices: readonly T[]): T | undefined {
  try {
    const value = localStorage.getItem(key);
    return choices.find((choice) => choice === value);
  } catch {
    return undefined;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Then it is only for now.
  }
}
