import { type ReactNode, useState } from 'react';
import type { AdminUserDetail, UserMove } from '@portal-auth/sdk/admin';
import { Field } from '../../components/fields';
import { fill } from '../../i18n/texts';
import { useOffer } from '../../offer';
import { admin } from '../client';
import { orNull } from '../drafts';
import { useTexts } from '../i18n/texts';
import { Dialog } from '../parts/dialog';
import { SelectField } from '../parts/fields';
import { ErrorState, LoadingState } from '../parts/states';
import { useLoaded } from '../use-loaded';

interface MoveDialogProps {
  readonly user: AdminUserDetail;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Asks where the user signs in from now on. A place is `password`, `ldap` or `oidc ID`. */
export function MoveDialog({ user, onDone, onClose }: MoveDialogProps): ReactNode {
  const { user: texts, users } = useTexts();
  const { providers: kinds } = useOffer();
  const { value, error, reload } = useLoaded((signal) => admin.identityProviders().page({ limit: 200, signal }));
  const [place, setPlace] = useState('');
  const [externalId, setExternalId] = useState(user.external_id ?? '');
  const { move } = texts.acts;
  const name = user.login_name;
  const now = placeOf(user);
  const places: (readonly [string, string])[] = [
    ...kinds.map((kind) => [kind, users.providers[kind]] as const),
    ...(value?.items ?? []).map((one) => [placeOf({ provider: 'oidc', identity_provider: one.id }), one.name] as const),
  ].filter(([one]) => one !== now);
  const isElsewhere = place.startsWith(elsewhere);
  const run = () => {
    const body: UserMove = isElsewhere
      ? { provider: 'oidc', identity_provider: place.slice(elsewhere.length), external_id: orNull(externalId) }
      : { provider: place as 'password' | 'ldap' };
    return admin.moveUser(user.uid, body);
  };
  return (
    <Dialog
      title={fill(move.ask, { name })}
      action={move.label}
      danger
      filled={place !== ''}
      run={run}
      onDone={onDone}
      onClose={onClose}
    >
      <p>{fill(move.effect, { name })}</p>
      {value === undefined ? (
        error === undefined ? (
          <LoadingState lines={2} />
        ) : (
          <ErrorState error={error} retry={reload} />
        )
      ) : (
        <SelectField
          label={texts.moving.place}
          value={place}
          options={[['', texts.moving.choose], ...places]}
          onChange={setPlace}
          hint={place === 'password' ? texts.moving.invited : undefined}
        />
      )}
      {isElsewhere && (
        <div className="field">
          <Field
            label={texts.externalId}
            value={externalId}
            onChange={setExternalId}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={255}
          />
          <p className="note">{texts.moving.externalId}</p>
        </div>
      )}
    </Dialog>
  );
}

const elsewhere = 'oidc ';
const placeOf = ({
  provider,
  identity_provider: id,
}: Pick<AdminUserDetail, 'provider' | 'identity_provider'>): string =>
  provider === 'oidc' ? elsewhere + id : provider;
