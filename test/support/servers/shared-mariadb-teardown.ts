/** Stops the shared MariaDB if the setup has started it. */
export default async function stopSharedMariaDb(): Promise<void> {
  await globalThis.sharedMariaDb?.stop();
}
