import { eventually } from '../servers/eventually';

/**
 * Waits until the page shows this. A reading that is compared once may come between an action and the frame that shows its
 * result. The error after the time-out has the difference to the last reading as its cause.
 */
export async function becomes<T>(read: () => Promise<T>, expected: unknown): Promise<void> {
  const matches = async (): Promise<true> => {
    expect(await read()).toEqual(expected);
    return true;
  };
  await eventually(matches, { what: 'what the page shows' });
}
