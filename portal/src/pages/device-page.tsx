import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { TextsProvider, useTexts } from '../applications/i18n/texts';
import { Field } from '../components/fields';
import { Message } from '../components/message';
import { Page } from '../components/page';
import { issuerUrl } from '../page-settings';
import { paths } from '../paths';
import { remembered } from '../tab-memory';
import '../styles/code.css';

/** A code that came in the address, while the service prepares the form. */
const given = remembered('portal.user-code');

/** Where the user types the code that a device shows, and where that ends. */
export function DevicePage(): ReactNode {
  const [asked] = useState(() => new URLSearchParams(`${location.search}&${location.hash.slice(1)}`));
  return (
    <TextsProvider>
      <Device asked={asked} />
    </TextsProvider>
  );
}

function Device({ asked }: { readonly asked: URLSearchParams }): ReactNode {
  const texts = useTexts().device;
  const xsrf = asked.get('xsrf');
  const result = asked.get('result');
  const bounces = xsrf === null && result === null && issuerUrl !== '';
  useEffect(() => {
    if (!bounces) return;
    given.set(asked.get('user_code') ?? undefined);
    // Comes back with what the form needs.
    location.replace(`${issuerUrl}/device`);
  }, [asked, bounces]);
  if (issuerUrl === '')
    return (
      <Page title={texts.title}>
        <Message kind="info">{texts.off}</Message>
      </Page>
    );
  if (result !== null) return <Outcome done={result === 'done'} />;
  return xsrf !== null && <CodeOfDevice xsrf={xsrf} code={asked.get('user_code')} wrong={asked.has('error')} />;
}

interface CodeOfDeviceProps {
  readonly xsrf: string;
  readonly code: string | null;
  readonly wrong: boolean;
}

/** A plain form: the provider answers it by leading the browser to the sign-in, or back to here. */
function CodeOfDevice({ xsrf, code, wrong }: CodeOfDeviceProps): ReactNode {
  const texts = useTexts().device;
  const [first] = useState(() => code ?? given.get() ?? '');
  const [typed, setTyped] = useState(first);
  const [missing, setMissing] = useState(false);
  useEffect(() => {
    given.set(undefined);
    // The value is for one form. A reload asks for another one.
    history.replaceState(history.state, '', paths.device);
  }, []);
  const submit = (event: FormEvent) => {
    if (typed.trim() !== '') return;
    event.preventDefault();
    setMissing(true);
  };
  return (
    <Page title={texts.title} intro={first === '' || wrong ? texts.intro : texts.filled}>
      <form method="post" action={`${issuerUrl}/device`} onSubmit={submit} noValidate>
        {wrong && !missing && (
          <Message kind="error" id="wrong-code">
            {texts.wrong}
          </Message>
        )}
        <input type="hidden" name="xsrf" value={xsrf} />
        <input type="hidden" name="confirm" value="yes" />
        <Field
          label={texts.label}
          name="user_code"
          className="code recovery"
          value={typed}
          onChange={(text) => {
            setMissing(false);
            setTyped(text.toUpperCase());
          }}
          error={missing ? texts.missing : undefined}
          errorId={wrong && !missing ? 'wrong-code' : undefined}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          maxLength={32}
          autoFocus
          required
        />
        <p className="note">{texts.warning}</p>
        <button type="submit" className="primary">
          {texts.submit}
        </button>
      </form>
    </Page>
  );
}

function Outcome({ done }: { readonly done: boolean }): ReactNode {
  const texts = useTexts().device;
  useEffect(
    () => history.replaceState(history.state, '', `${paths.device}?result=${done ? 'done' : 'failed'}`),
    [done],
  );
  return (
    <Page title={done ? texts.done : texts.failed}>
      <Message kind={done ? 'success' : 'warning'}>{done ? texts.back : texts.start}</Message>
      {!done && (
        <a className="secondary" href={paths.device}>
          {texts.again}
        </a>
      )}
    </Page>
  );
}
