import type { ReactNode } from 'react';
import { given } from '../filters';
import { useTexts } from '../i18n/texts';
import { TypedFilter } from './fields';
import { EmptyState } from './states';

/** The address has the local times of the fields. The service wants an instant. */
export function logFilters<T extends Readonly<Record<'from' | 'to', string>>>(values: T): Partial<T> {
  const { from, to } = values;
  return given({ ...values, from: instant(from), to: instant(to) });
}

/** The instant of a `datetime-local` field in ISO 8601, or an empty text. */
export function instant(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

type Name = 'request_id' | 'ip' | 'from' | 'to';

interface RequestFiltersProps {
  readonly values: Readonly<Record<Name, string>>;
  readonly set: (name: Name, value: string) => void;
}

/** Filters for the request id, the IP address and the time. */
export function RequestFilters({ values, set }: RequestFiltersProps): ReactNode {
  const { logs } = useTexts();
  return (
    <>
      <TypedFilter label={logs.requestId} value={values.request_id} onChange={(value) => set('request_id', value)} />
      <TypedFilter label={logs.ip} value={values.ip} onChange={(value) => set('ip', value)} />
      <TypedFilter
        label={logs.from}
        type="datetime-local"
        value={values.from}
        onChange={(value) => set('from', value)}
      />
      <TypedFilter label={logs.to} type="datetime-local" value={values.to} onChange={(value) => set('to', value)} />
    </>
  );
}

interface NoRowsProps {
  readonly icon: ReactNode;
  readonly filters: { readonly any: boolean; readonly clear: () => void };
}

export function NoRows({ icon, filters: { any, clear } }: NoRowsProps): ReactNode {
  const { logs, users } = useTexts();
  return (
    <EmptyState icon={icon} title={any ? logs.noMatch : logs.empty} text={any ? users.noMatchHint : undefined}>
      {any && (
        <button type="button" className="secondary" onClick={clear}>
          {users.clear}
        </button>
      )}
    </EmptyState>
  );
}
