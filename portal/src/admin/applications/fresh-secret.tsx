import type { ReactNode } from 'react';
import { Message } from '../../components/message';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { CodeBlock } from '../parts/code-block';

let fresh: { readonly id: string; readonly secret: string } | undefined;

/** Hands the secret of a new application over to its page. It is kept in memory only, and read once. */
export function handOver(id: string, secret: string): void {
  fresh = { id, secret };
}

export function takeSecret(id: string): string | undefined {
  const secret = fresh?.id === id ? fresh.secret : undefined;
  fresh = undefined;
  return secret;
}

interface FreshSecretProps {
  readonly secret: string;
  readonly onStored: () => void;
}

/** Shows a secret for the only time. */
export function FreshSecret({ secret, onStored }: FreshSecretProps): ReactNode {
  const { applications: texts } = useTexts();
  return (
    <Card title={texts.secret.title}>
      <Message kind="warning" focused>
        {texts.secret.once}
      </Message>
      <CodeBlock place={texts.secret.title} text={secret} />
      <div className="actions start">
        <button type="button" className="secondary" onClick={onStored}>
          {texts.secret.stored}
        </button>
      </div>
    </Card>
  );
}
