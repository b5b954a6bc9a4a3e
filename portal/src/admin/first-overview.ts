import type { AdminOverview } from '@portal-auth/sdk/admin';
import { admin } from './client';

/** The service itself remembers its answer for so long. */
const freshMs = 10_000;

let first: { readonly answer: AdminOverview; readonly at: number } | undefined;

/** The overview that tells whether this user may administrate. */
export async function firstOverview(signal: AbortSignal): Promise<AdminOverview> {
  const answer = await admin.overview({ signal });
  first = { answer, at: Date.now() };
  return answer;
}

/** The same answer for the page of the overview, once and soon after, so that opening the console asks only once. */
export async function latestOverview(signal: AbortSignal): Promise<AdminOverview> {
  const known = first;
  first = undefined;
  return known !== undefined && Date.now() - known.at < freshMs ? known.answer : admin.overview({ signal });
}
