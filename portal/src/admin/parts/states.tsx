import { type ReactNode, useEffect, useRef } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import { Failure } from '../../components/message';
import { useSpeech } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { Shield } from './icons';

interface EmptyStateProps {
  readonly title: string;
  readonly text?: string;
  readonly icon?: ReactNode;
  /** The state is the whole page, so its title is the heading of the page. */
  readonly heading?: boolean;
  /** What the user can do. */
  readonly children?: ReactNode;
}

/** Says in the middle of the page that there is nothing, why, and what to do. */
export function EmptyState({ title, text, icon, heading = false, children }: EmptyStateProps): ReactNode {
  const element = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!heading) return;
    document.title = title;
    if (document.activeElement === document.body) element.current?.focus();
  }, [heading, title]);
  return (
    <div className="empty">
      {icon !== undefined && <span className="empty-icon">{icon}</span>}
      {heading ? (
        <h1 ref={element} tabIndex={-1}>
          {title}
        </h1>
      ) : (
        <p className="empty-title">{title}</p>
      )}
      {text !== undefined && <p className="note">{text}</p>}
      {children !== undefined && <div className="actions">{children}</div>}
    </div>
  );
}

/** Grey lines where the content will be. They appear late, so that a fast answer does not flash. */
export function LoadingState({ lines = 4 }: { readonly lines?: number }): ReactNode {
  const { t } = useSpeech();
  return (
    <div className="skeleton">
      <p className="heard" role="status">
        {t.account.loading}
      </p>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} aria-hidden="true" />
      ))}
    </div>
  );
}

interface ErrorStateProps {
  readonly error: unknown;
  readonly retry?: () => void;
}

/** Why a part of the page did not load, and what the user can do. */
export function ErrorState({ error, retry }: ErrorStateProps): ReactNode {
  const { t } = useSpeech();
  const { gate } = useTexts();
  if (error === undefined) return null;
  if (error instanceof ServiceError && error.code === 'AUTH_403001')
    return <EmptyState icon={<Shield />} title={gate.notHere.title} text={gate.notHere.text} />;
  return (
    <div className="notice">
      <Failure error={error} />
      {retry !== undefined && (
        <button type="button" className="secondary small" onClick={retry}>
          {t.reset.retry}
        </button>
      )}
    </div>
  );
}
