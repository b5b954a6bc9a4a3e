/** Whether a request gets neither an answer nor an error within the given time. */
export async function staysSilent(answer: Promise<unknown>, milliseconds = 150): Promise<boolean> {
  const settled = answer.then(
    () => false,
    () => false,
  );
  return Promise.race([settled, new Promise<boolean>((resolve) => setTimeout(resolve, milliseconds, true))]);
}
