/** Stops what the setup started, nothing else. */
export default async function stopSharedMariaDb(): Promise<void> {
  await globalThis.sharedMariaDb?.stop();
}
