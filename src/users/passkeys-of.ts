/** How many passkeys a user has. */
export const passkeysOf: (userId: string) => Promise<number> = () => Promise.resolve(0);
