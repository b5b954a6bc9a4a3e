/** Whether a server says nothing for a while: neither an answer nor an error. */
export async function staysSilent(answer: Promise<unknown>, milliseconds = 150): Promise<boolean> {
  const said = answer.then(
    () => false,
    () => false,
  );
  return Promise.race([said, new Promise<boolean>((resolve) => setTimeout(resolve, milliseconds, true))]);
}
