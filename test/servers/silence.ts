/** Whether a request gets neither an answer nor an error for a while. */
export async function staysSilent(answer: Promise<unknown>, milliseconds = 150): Promise<boolean> {
  const said = answer.then(
    () => false,
    () => false,
  );
  return Promise.race([said, new Promise<boolean>((resolve) => setTimeout(resolve, milliseconds, true))]);
}
