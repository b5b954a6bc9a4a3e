import { Component, type ComponentType, Fragment, type ReactNode } from 'react';
import { useSpeech } from '../i18n/texts';
import { Message } from './message';
import { Page } from './page';

interface Props {
  /** Put around the message, for a page that has its own frame. */
  readonly frame?: ComponentType<{ readonly children: ReactNode }>;
  readonly children: ReactNode;
}

/** Offers a reload when the script of a page does not load, for example without a network or after an update. */
export class PageBoundary extends Component<Props, { readonly failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { readonly failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    const { children, frame: Around = Fragment } = this.props;
    if (!this.state.failed) return children;
    return (
      <Around>
        <NotLoaded />
      </Around>
    );
  }
}

function NotLoaded(): ReactNode {
  const { t } = useSpeech();
  return (
    <Page title={t.product}>
      <Message kind="error">{t.failures.connection}</Message>
      <button type="button" className="primary" onClick={() => location.reload()}>
        {t.reset.retry}
      </button>
    </Page>
  );
}
