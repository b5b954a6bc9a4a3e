import { type ReactNode, useState } from 'react';
import { useServiceTime } from '../../service-time';
import { useTexts } from '../i18n/texts';
import { SelectField } from './fields';

/** Seconds that the former secret still works: none, an hour, a day, a week. */
const keeps = [0, 3600, 86_400, 604_800] as const;
type Keep = (typeof keeps)[number];

/**
 * How long the present secret still works beside a new one. Only one former secret is kept: a third one would end the one
 * that may still be in use.
 * @param until the end of the secret before the present one
 */
export function useKeep(until: string | null) {
  const now = useServiceTime();
  const [chosen, choose] = useState<Keep>(86_400);
  const kept = until !== null && Date.parse(until) > now;
  return { seconds: kept ? 0 : chosen, kept, choose };
}

interface KeepFieldProps {
  readonly keep: ReturnType<typeof useKeep>;
  readonly texts: Readonly<Record<'label' | 'none', string>>;
}

export function KeepField({ keep: { seconds, kept, choose }, texts }: KeepFieldProps): ReactNode {
  const { keep: shared } = useTexts().applications;
  return (
    <SelectField
      label={texts.label}
      value={String(seconds)}
      options={keeps.filter((one) => one === 0 || !kept).map((one) => [String(one), shared.times[one]] as const)}
      onChange={(value) => choose(Number(value) as Keep)}
      hint={kept ? shared.former : seconds === 0 ? texts.none : undefined}
    />
  );
}
