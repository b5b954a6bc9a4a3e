import { type ReactNode, useEffect, useState } from 'react';
import { TextsProvider, useTexts } from '../applications/i18n/texts';
import { Field } from '../components/fields';
import { Form } from '../components/form';
import { Message } from '../components/message';
import { Page } from '../components/page';
import { Submit } from '../components/submit';
import { useSpeech } from '../i18n/texts';
import { issuerUrl } from '../page-settings';
import { paths } from '../paths';
import '../styles/code.css';

/**
 * Where the user types the code that a device shows, and where that ends: the service leads to `/device?state=done`, or with
 * `refused` for a wrong code, or with `aborted`.
 */
export function DevicePage(): ReactNode {
  const [asked] = useState(() => new URLSearchParams(location.search));
  return (
    <TextsProvider>
      <Device state={asked.get('state')} given={asked.get('user_code') ?? ''} />
    </TextsProvider>
  );
}

interface DeviceProps {
  readonly state: string | null;
  /** The code in the address, where the device shows a QR code. */
  readonly given: string;
}

function Device({ state, given }: DeviceProps): ReactNode {
  const { device: texts } = useTexts();
  if (issuerUrl === '')
    return (
      <Page title={texts.title}>
        <Message kind="info">{texts.off}</Message>
      </Page>
    );
  if (state === 'done')
    return (
      <Page title={texts.done}>
        <Message kind="success">{texts.back}</Message>
      </Page>
    );
  if (state === 'aborted')
    return (
      <Page title={texts.failed}>
        <Message kind="warning">{texts.start}</Message>
        <a className="secondary" href={paths.device}>
          {texts.again}
        </a>
      </Page>
    );
  return <CodeOfDevice given={given} wrong={state === 'refused'} />;
}

interface CodeOfDeviceProps {
  readonly given: string;
  readonly wrong: boolean;
}

function CodeOfDevice({ given, wrong }: CodeOfDeviceProps): ReactNode {
  const { t } = useSpeech();
  const { device: texts } = useTexts();
  const [code, setCode] = useState(given);
  const [missing, setMissing] = useState(false);
  const [leaving, setLeaving] = useState(false);
  useEffect(() => {
    // The browser can show this page again as it was left, for example with the Back button.
    const back = () => setLeaving(false);
    window.addEventListener('pageshow', back);
    return () => window.removeEventListener('pageshow', back);
  }, []);
  const submit = () => {
    const empty = code.trim() === '';
    setMissing(empty);
    if (empty) return;
    setLeaving(true);
    // The provider leads to the sign-in and its question, or back to here.
    location.assign(`${issuerUrl}/device?user_code=${encodeURIComponent(code.trim())}`);
  };
  const refused = wrong && !missing;
  return (
    <Page title={texts.title} intro={given === '' ? texts.intro : texts.filled}>
      <Form busy={leaving} onSubmit={submit}>
        {refused && (
          <Message kind="error" id="refused-code">
            {texts.wrong}
          </Message>
        )}
        <Field
          label={texts.label}
          name="user_code"
          className="code recovery device-code"
          value={code}
          onChange={(text) => {
            setMissing(false);
            setCode(text);
          }}
          error={missing ? texts.missing : undefined}
          errorId={refused ? 'refused-code' : undefined}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          maxLength={32}
          autoFocus
          required
        />
        <p className="note">{texts.warning}</p>
        <Submit label={texts.submit} busy={leaving} busyLabel={t.account.loading} />
      </Form>
    </Page>
  );
}
