import { ServiceError } from '@portal-auth/sdk';
import type { AdminBulk, AdminUser } from '@portal-auth/sdk/admin';
import { admin } from '../client';

export type BulkAction = AdminBulk['action'];

/** One action for some users. */
export interface BulkStep {
  readonly action: BulkAction;
  readonly users: readonly AdminUser[];
  /** Of a move. */
  readonly tenantId?: string;
}

/** What became of a user: the code of the refusal, or undefined when it was done. */
export interface BulkOutcome {
  readonly user: AdminUser;
  readonly code: string | undefined;
}

/** Users of one request, so that the progress is visible and a stop takes effect soon. */
const chunk = 50;
const longestWait = 30;

/**
 * Sends one chunk after the other.
 * @param told is called after each chunk with all outcomes so far
 * @throws the error of a chunk that got no answer; the chunks before are told
 */
export async function runBulk(
  steps: readonly BulkStep[],
  told: (outcomes: readonly BulkOutcome[]) => void,
  signal: AbortSignal,
): Promise<void> {
  let outcomes: readonly BulkOutcome[] = [];
  for (const { action, users, tenantId } of steps) {
    for (let at = 0; at < users.length && !signal.aborted; at += chunk) {
      const part = users.slice(at, at + chunk);
      const body = { uids: part.map(({ uid }) => uid), action, ...(tenantId !== undefined && { tenant_id: tenantId }) };
      const results = new Map((await patiently(body)).map((one) => [one.uid, one.error_code]));
      outcomes = [...outcomes, ...part.map((user) => ({ user, code: results.get(user.uid) }))];
      told(outcomes);
    }
  }
}

/** Another tab of the same administrator, or the rate limit, says how long to wait. */
async function patiently(body: AdminBulk) {
  for (let tries = 1; ; tries++) {
    try {
      return await admin.bulkUsers(body);
    } catch (error) {
      const seconds =
        error instanceof ServiceError && error.code === 'COMMON_429001' ? (error.retryAfter ?? 1) : undefined;
      if (seconds === undefined || seconds > longestWait || tries > 3) throw error;
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }
}

/** What brings the users that were changed back to where they were. Empty: nothing can. */
export function undoOf({ action }: BulkStep, outcomes: readonly BulkOutcome[]): readonly BulkStep[] {
  const done = outcomes.filter(({ code }) => code === undefined).map(({ user }) => user);
  const of = (users: readonly AdminUser[], step: Omit<BulkStep, 'users'>) =>
    users.length === 0 ? [] : [{ ...step, users }];
  switch (action) {
    case 'disable':
      return of(
        done.filter(({ status }) => status === 1),
        { action: 'enable' },
      );
    case 'enable':
      return of(
        done.filter(({ status }) => status === -1),
        { action: 'disable' },
      );
    case 'move': {
      const tenants = [...new Set(done.map(({ tenant_id }) => tenant_id))];
      return tenants.flatMap((tenantId) =>
        of(
          done.filter(({ tenant_id }) => tenant_id === tenantId),
          { action: 'move', tenantId },
        ),
      );
    }
    default:
      return [];
  }
}
