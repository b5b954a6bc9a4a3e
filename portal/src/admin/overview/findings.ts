import type { AdminOverview } from '@portal-auth/sdk/admin';

/** What the overview checks, in the order of the page. */
export type Check = 'clock' | 'mails' | 'events' | 'receivers' | 'secrets' | 'guesses' | 'locked';

export interface Finding {
  readonly check: Check;
  readonly well: boolean;
}

/** A mail or an event that waits for so long needs an operator, as `doctor` says. Shorter outages end by themselves. */
const lateSeconds = 900;
/** One address that fails with so many names is no person who mistypes. */
const manyNames = 3;

const flows = (backlog: AdminOverview['mails']): boolean =>
  backlog !== null && backlog.dead === 0 && backlog.oldest_seconds <= lateSeconds;

/** Whether somebody tries many names from one address, or a name of nobody again and again. */
export const isGuessing = ({ failing }: Pick<AdminOverview, 'failing'>): boolean =>
  failing.addresses.some(({ names }) => names >= manyNames) || failing.names.some(({ user_id: user }) => user === null);

/** What is well and what is not. What belongs to no tenant is null for its administrator, and is left out. */
export function findingsOf(overview: AdminOverview): readonly Finding[] {
  const { clock, mails, events, event_receivers: receivers, ending_secrets: secrets, locked } = overview;
  return [
    ...(clock === null ? [] : [{ check: 'clock' as const, well: clock === 'ok' }]),
    ...(mails === null ? [] : [{ check: 'mails' as const, well: flows(mails) }]),
    ...(events === null ? [] : [{ check: 'events' as const, well: flows(events) }]),
    ...(receivers?.total ? [{ check: 'receivers' as const, well: receivers.failing.length === 0 }] : []),
    ...(secrets === null ? [] : [{ check: 'secrets' as const, well: secrets.length === 0 }]),
    { check: 'guesses', well: !isGuessing(overview) },
    { check: 'locked', well: locked === 0 },
  ];
}
