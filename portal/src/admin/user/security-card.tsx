import type { ReactNode } from 'react';
import type { AdminUserDetail } from '@portal-auth/sdk/admin';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { At, Facts } from '../parts/facts';

/** What protects the account, and what has been tried against it. */
export function SecurityCard({ user }: { readonly user: AdminUserDetail }): ReactNode {
  const { user: texts } = useTexts();
  const { yes, no } = texts;
  return (
    <Card title={texts.security}>
      <Facts
        facts={[
          ...(user.provider !== 'password'
            ? []
            : [
                [texts.passwordSet, <At at={user.password_set_at} />] as const,
                [texts.mustChange, user.must_change_password ? yes : no] as const,
              ]),
          [texts.mfaType, texts.mfaTypes[user.mfa_type]],
          [texts.authenticator, user.totp_enrolled ? yes : no],
          [texts.passkeys, user.passkeys],
          [texts.recoveryCodes, user.recovery_codes_left],
          [texts.devices, user.devices],
          [texts.failed, user.failed_logins],
          [texts.lastFailed, <At at={user.last_failed_login_at} />],
        ]}
      />
    </Card>
  );
}
