import type { ReactNode } from 'react';
import { PasskeyError } from '@portal-auth/sdk';
import { Failure, Message } from './message';

interface PasskeyFailureProps {
  readonly error: unknown;
  /** Said when the user has closed the prompt of the browser. */
  readonly cancelled: string;
}

/** A closed prompt is the choice of the user and no error, so its message is calm. */
export function PasskeyFailure({ error, cancelled }: PasskeyFailureProps): ReactNode {
  if (!(error instanceof PasskeyError)) return <Failure error={error} />;
  if (error.problem === 'aborted') return null;
  return error.problem === 'cancelled' ? <Message kind="info">{cancelled}</Message> : <Failure error={error} />;
}
