import { type ReactNode, useId } from 'react';
import { fill, useSpeech } from '../i18n/texts';
import { useOffer } from '../offer';

interface TrustDeviceProps {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

/** Offers to need no code on this device for some days. Shows nothing if the service trusts no devices. */
export function TrustDevice({ checked, onChange }: TrustDeviceProps): ReactNode {
  const { t } = useSpeech();
  const { trusted_device_days: days } = useOffer();
  const hint = useId();
  if (days === 0) return null;
  return (
    <div className="choice">
      <label>
        <input
          type="checkbox"
          name="trust-device"
          checked={checked}
          onChange={(event) => onChange(event.target.checked)}
          aria-describedby={hint}
        />
        {fill(t.code.trust, { days })}
      </label>
      <p className="note" id={hint}>
        {t.code.trustHint}
      </p>
    </div>
  );
}
