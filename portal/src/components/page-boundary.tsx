import { Component, type ReactNode } from 'react';
import { useSpeech } from '../i18n/texts';
import { Message } from './message';
import { Page } from './page';

interface Props {
  readonly children: ReactNode;
}

/** Offers a reload when the script of a page does not load, for example without a network or after an update. */
export class PageBoundary extends Component<Props, { readonly failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { readonly failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? <NotLoaded /> : this.props.children;
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
