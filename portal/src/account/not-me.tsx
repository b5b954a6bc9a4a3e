import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { MeResponse, OwnPasswordChange } from '@portal-auth/sdk';
import { auth } from '../auth';
import { Failure, Message } from '../components/message';
import { NewPassword } from '../components/new-password';
import { fill, useSpeech } from '../i18n/texts';
import { paths } from '../paths';
import { useTask } from '../use-task';
import { useTexts } from './i18n/texts';
import { useInstallation } from './installation';
import { Loaded } from './loaded';
import { type Provider, useProvider } from './provider';

/** What the stranger has reached: a session, a right password with a wrong code, or nothing. */
export type Reached = 'gotIn' | 'knewPassword' | 'refused';

/** What has been done, for the page that shows the dialog. */
export type Outcome = 'changed' | 'unchanged' | 'companyDone';
export interface Done {
  readonly outcome: Outcome;
  readonly count: number;
}

interface NotMeProps {
  readonly me: MeResponse;
  readonly reached: Reached;
  /** The device and the place that the user does not know. */
  readonly children: ReactNode;
  /** `done` is undefined when the user has changed nothing. */
  readonly onClose: (done: Done | undefined) => void;
}

/**
 * "This was not me": ends all other sessions and the trust in all devices, and then leads to a new password. The native
 * element holds the focus inside, and gives it back to the button that opened it.
 */
export function NotMe({ me, reached, children, onClose }: NotMeProps): ReactNode {
  const { t } = useSpeech();
  const { notMe: texts } = useTexts();
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const provider = useProvider(me);
  const [ended, setEnded] = useState<number>();
  const [changed, setChanged] = useState(false);
  const stop = useEnding(setEnded);
  const company = hasPasswordElsewhere(provider);
  const outcome: Outcome = changed ? 'changed' : company ? 'companyDone' : 'unchanged';
  useEffect(() => dialog.current?.showModal(), []);
  // The heading of the second step, because the button of the first one has disappeared.
  useEffect(() => {
    if (ended !== undefined) document.getElementById(id)?.focus();
  }, [ended, id]);
  // After the state is drawn, because the browser tells of the closing at once.
  useEffect(() => {
    if (changed) dialog.current?.close();
  }, [changed]);
  // A request that runs cannot be taken back, so the dialog stays for its answer.
  const sending = useRef(false);
  const close = () => !sending.current && dialog.current?.close();
  const title = ended === undefined ? texts.title : company ? texts.companyTitle : texts.nextTitle;
  return (
    <dialog
      ref={dialog}
      className="not-me"
      aria-labelledby={id}
      onCancel={(event) => (stop.busy || sending.current) && event.preventDefault()}
      onClose={() => onClose(ended === undefined ? undefined : { outcome, count: ended })}
    >
      <h2 id={id} tabIndex={-1}>
        {title}
      </h2>
      {ended === undefined ? (
        <>
          {children}
          <p>{texts[company ? (`${reached}Company` as const) : reached]}</p>
          <Failure error={stop.error} />
          <div className="actions">
            <button type="button" className="secondary" disabled={stop.busy} onClick={close} autoFocus>
              {t.account.cancel}
            </button>
            <button
              type="button"
              className="primary"
              disabled={stop.busy || provider === undefined}
              aria-busy={stop.busy}
              onClick={() => void stop.run()}
            >
              {stop.busy ? texts.busy : texts.act}
            </button>
          </div>
        </>
      ) : (
        <>
          <Message kind="success">{fill(texts.stopped, { count: ended })}</Message>
          <Next
            me={me}
            provider={provider}
            send={async (passwords) => {
              sending.current = true;
              await auth.changeOwnPassword(passwords).finally(() => (sending.current = false));
              setChanged(true);
            }}
            onLater={close}
          />
        </>
      )}
    </dialog>
  );
}

/** The password of a company account is changed where it belongs to. */
const hasPasswordElsewhere = (provider: Provider | undefined): boolean => provider === 'ldap' || provider === 'oidc';

/** A trusted device would let somebody who knows the password in without a code. */
function useEnding(onEnded: (count: number) => void) {
  const { trusted_device_days: trustDays } = useInstallation();
  // A second try counts the sessions of the first one as well.
  const count = useRef(0);
  return useTask(async () => {
    count.current += await auth.endOtherSessions();
    if (trustDays > 0) for (const { id } of await auth.trustedDevices()) await auth.endTrustedDevice(id);
    onEnded(count.current);
  });
}

interface NextProps {
  readonly me: MeResponse;
  readonly provider: Provider | undefined;
  readonly send: (passwords: OwnPasswordChange) => Promise<void>;
  readonly onLater: () => void;
}

/** The new password: here, or where it belongs to. */
function Next({ me, provider, send, onLater }: NextProps): ReactNode {
  const { notMe: texts } = useTexts();
  const { brand, password_reset: byMail } = useInstallation();
  const { t } = useSpeech();
  if (hasPasswordElsewhere(provider))
    return (
      <>
        <p>{texts.company}</p>
        <div className="actions">
          {typeof brand.support_url === 'string' && (
            <a className="secondary" href={brand.support_url}>
              {t.brandLinks.support}
            </a>
          )}
          <button type="button" className="primary" onClick={onLater}>
            {texts.close}
          </button>
        </div>
      </>
    );
  return (
    <>
      <p>{texts.next}</p>
      <Loaded load={() => auth.passwordPolicy()}>
        {(policy) => (
          <NewPassword policy={policy} username={me.login_name} withCurrent send={send}>
            <button type="button" className="secondary" onClick={onLater}>
              {texts.later}
            </button>
          </NewPassword>
        )}
      </Loaded>
      {byMail && (
        <p className="note">
          {texts.unknown} <Link href={paths.forgot}>{texts.link}</Link>
        </p>
      )}
    </>
  );
}
