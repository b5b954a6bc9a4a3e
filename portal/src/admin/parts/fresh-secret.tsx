import type { ReactNode } from 'react';
import { Message } from '../../components/message';
import { Card } from './card';
import { CodeBlock } from './code-block';

let fresh: { readonly id: string; readonly secret: string } | undefined;

/** Hands the secret of a new application or receiver over to its page. It is kept in memory only, and read once. */
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
  readonly texts: Readonly<Record<'title' | 'once' | 'stored', string>>;
  readonly onStored: () => void;
}

/** Shows a secret for the only time. */
export function FreshSecret({ secret, texts, onStored }: FreshSecretProps): ReactNode {
  return (
    <Card title={texts.title}>
      <Message kind="warning" focused>
        {texts.once}
      </Message>
      <CodeBlock place={texts.title} text={secret} />
      <div className="actions start">
        <button type="button" className="secondary" onClick={onStored}>
          {texts.stored}
        </button>
      </div>
    </Card>
  );
}
