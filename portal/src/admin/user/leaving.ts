import { auth } from '../../auth';

export interface OffboardingReceiver {
  readonly kind: 'application' | 'webhook';
  readonly id: string | null;
  /** Null when the application was deleted. */
  readonly name: string | null;
  readonly sessions: number | null;
  readonly status: 'waiting' | 'told' | 'failed' | 'not_offered';
  readonly attempts: number | null;
  readonly answered_at: string | null;
  readonly answer: string | null;
  readonly next_attempt_at: string | null;
}

export interface Offboarding {
  readonly id: string;
  readonly via: 'api' | 'console' | 'cli' | 'scim';
  readonly began_by: string | null;
  readonly began_at: string;
  readonly steps: readonly { readonly step: string; readonly ended: number; readonly at: string }[];
  readonly receivers: readonly OffboardingReceiver[];
  readonly complete: boolean;
  readonly seconds: number | null;
  readonly given_up: number;
  readonly restored_at: string | null;
  readonly restored_by: string | null;
}

export interface Offboardings {
  readonly offboarding: Offboarding | null;
  readonly earlier: readonly Offboarding[];
}

interface Answer {
  readonly data: Offboardings;
}

const security = [{ scheme: 'bearer', type: 'http' }] as const;

/** `GET /admin/users/{uid}/offboarding` */
export async function offboardings(uid: string, signal: AbortSignal): Promise<Offboardings> {
  const { data } = await auth.call<Answer>(
    ({ client, ...options }) =>
      client.get<{ 200: Answer }>({
        ...options,
        url: '/admin/users/{uid}/offboarding',
        path: { uid },
        security: [...security],
      }),
    { signal },
  );
  return data;
}

/** `POST /admin/users/{uid}/offboard` */
export const offboard = (uid: string): Promise<Answer> =>
  auth.withFreshLogin(() =>
    auth.call<Answer>(({ client, ...options }) =>
      client.post<{ 200: Answer }>({
        ...options,
        url: '/admin/users/{uid}/offboard',
        path: { uid },
        body: { via: 'console' },
        headers: { 'Content-Type': 'application/json' },
        security: [...security],
      }),
    ),
  );

/** `GET /admin/users/{uid}/export`, as a file. */
export const exported = (uid: string): Promise<Blob> =>
  auth.withFreshLogin(() =>
    auth.call<Blob>(({ client, ...options }) =>
      client.get<{ 200: Blob }>({
        ...options,
        url: '/admin/users/{uid}/export',
        path: { uid },
        parseAs: 'blob',
        security: [...security],
      }),
    ),
  );
