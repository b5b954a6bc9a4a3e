import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { type MeResponse, ServiceError } from '@portal-auth/sdk';
import { auth } from '../auth';
import { Failure } from '../components/message';
import { askFreshLogin } from '../fresh-login/host';
import { useSpeech } from '../i18n/texts';
import { paths } from '../paths';
import { admin } from './client';
import { firstOverview } from './first-overview';
import { useTexts } from './i18n/texts';
import { Shield } from './parts/icons';
import { EmptyState, LoadingState } from './parts/states';
import { useTask } from '../use-task';
import { useLoaded } from './use-loaded';
import { roleOf, type Viewer, ViewerContext } from './viewer';

interface Answer {
  readonly me: MeResponse;
  readonly root: boolean;
  readonly receivers?: boolean;
  readonly refusal: ServiceError | undefined;
}

async function ask(signal: AbortSignal): Promise<Answer> {
  const me = await auth.me();
  try {
    if (roleOf(me) === 'help_desk') {
      // The overview is not for the help desk. Whoever belongs to the root tenant sees the mails.
      await admin.users().page({ limit: 1, signal });
      return { me, root: me.tenant_id === rootTenant, refusal: undefined };
    }
    const { mails, event_receivers: receivers } = await firstOverview(signal);
    // A replica of an earlier version does not tell.
    return { me, root: mails !== null, receivers: (receivers ?? null) !== null, refusal: undefined };
  } catch (error) {
    if (!(error instanceof ServiceError) || !['AUTH_403001', 'COMMON_404001'].includes(error.code)) throw error;
    return { me, root: false, refusal: error };
  }
}

const rootTenant = 'root';

/** Asks once whether this user may administrate, and otherwise says why not and what to do. */
export function Gate({
  children,
}: {
  readonly children: (viewer: Viewer | undefined, page?: ReactNode) => ReactNode;
}): ReactNode {
  const { t } = useSpeech();
  const { value, error, reload } = useLoaded(ask);
  if (value === undefined)
    return children(
      undefined,
      error === undefined ? (
        <LoadingState />
      ) : (
        <div className="notice">
          <Failure error={error} />
          <button type="button" className="primary" onClick={reload}>
            {t.reset.retry}
          </button>
        </div>
      ),
    );
  const { me, root, receivers = false, refusal } = value;
  if (refusal !== undefined) return children(undefined, <Refused me={me} refusal={refusal} reload={reload} />);
  const role = roleOf(me);
  const viewer = { me, root, receivers, role, writes: role === undefined };
  return <ViewerContext value={viewer}>{children(viewer)}</ViewerContext>;
}

interface RefusedProps {
  readonly me: MeResponse;
  readonly refusal: ServiceError;
  readonly reload: () => void;
}

function Refused({ me, refusal, reload }: RefusedProps): ReactNode {
  const { gate } = useTexts();
  const confirm = useTask(async () => {
    if (await askFreshLogin({ secondFactor: true })) reload();
  });
  const back = (
    <Link className="secondary" href={paths.account}>
      {gate.account}
    </Link>
  );
  if (refusal.code === 'COMMON_404001')
    return (
      <EmptyState icon={<Shield />} title={gate.off.title} text={gate.off.text} heading>
        {back}
      </EmptyState>
    );
  if (me.is_admin !== true && roleOf(me) === undefined)
    return (
      <EmptyState icon={<Shield />} title={gate.forbidden.title} text={gate.forbidden.text} heading>
        {back}
      </EmptyState>
    );
  // The dialog asks for the second factor that the account has. Otherwise the account page sets one up.
  const hasOne = me.mfa_type === 'totp' || me.passkeys > 0;
  return (
    <EmptyState
      icon={<Shield />}
      title={gate.factor.title}
      text={hasOne ? gate.factor.again : gate.factor.setUp}
      heading
    >
      {hasOne && (
        <button type="button" className="primary" disabled={confirm.busy} onClick={() => void confirm.run()}>
          {gate.factor.confirm}
        </button>
      )}
      {/* Where no login asks for a code, the authenticator is set up again, with its code. */}
      {(!hasOne || me.mfa_type === 'totp') && (
        <Link className={hasOne ? 'secondary' : 'primary'} href={paths.totp}>
          {gate.factor.button}
        </Link>
      )}
      {back}
    </EmptyState>
  );
}
