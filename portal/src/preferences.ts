/** The stored choice, if the browser allows storage and the value is one of `choices`. */
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
    // The browser forbids storage, so the choice lasts only until the user leaves the page.
  }
}
