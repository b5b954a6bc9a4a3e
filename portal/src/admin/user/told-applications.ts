import { Pages } from '@portal-auth/sdk/admin';
import { auth } from '../../auth';

/** An application that was told that a session has ended, or is still to be told. */
export interface AdminLogout {
  readonly id: string;
  readonly sid: string;
  /** The name is null when the application was deleted. */
  readonly application: { readonly id: string; readonly name: string | null };
  readonly created_at: string;
  readonly status: 'waiting' | 'told' | 'failed' | 'not_offered';
  readonly attempts: number;
  readonly answered_at: string | null;
  readonly answer: string | null;
}

interface Answer {
  readonly data: { readonly logouts: AdminLogout[]; readonly next: string | null };
}

const notOffered = () => Promise.reject(new Error('the receipt is not offered as a file'));

/** `GET /admin/users/{uid}/logouts`, the newest first. */
export const userLogouts = (uid: string): Pages<AdminLogout> =>
  new Pages({
    page: async ({ after: cursor, signal }) => {
      const { data } = await auth.call<Answer>(
        ({ client, ...options }) =>
          client.get<{ 200: Answer }>({
            ...options,
            url: '/admin/users/{uid}/logouts',
            path: { uid },
            query: { cursor },
            security: [{ scheme: 'bearer', type: 'http' }],
          }),
        { signal },
      );
      return { items: data.logouts, next: data.next };
    },
    file: notOffered,
    pause: notOffered,
  });
