import type { Command } from 'commander';
import { UserSessions } from '../sessions/user-sessions';
import { inContext, printRows } from './cli-context';
import { UserAdministration } from '../admin/user-administration';

/** `user sessions NAME`: prints the sessions of an account that have not ended. `user revoke-tokens` ends them. */
export function addSessionsCommand(user: Command): void {
  user
    .command('sessions')
    .description('print one line for each session that has not ended, the newest first')
    .argument('<name>', 'login name or uid')
    .option('--json')
    .action((name: string, { json }: { json?: boolean }) =>
      inContext(async (context) => {
        const { uid } = await context.get(UserAdministration).find(name);
        const sessions = await context.get(UserSessions).list(uid);
        const rows = sessions.map(({ sid, createdAt, lastUsedAt, ip, amr, userAgent }) => ({
          sid,
          created_at: createdAt.toISOString(),
          last_used_at: lastUsedAt.toISOString(),
          ip,
          amr: json ? amr : amr.join(' ') || null,
          // The client chose this text. A control character could change what the terminal shows.
          user_agent: json ? userAgent : (userAgent?.replace(/\p{Cc}/gu, '?') ?? null),
        }));
        printRows(rows, json);
      }),
    );
}
