import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { decodeJwt } from 'jose';
import { TestService } from '../support/app';
import { FakeClock } from '../support/fakes';
import { forgedTokens, newKeyPem } from '../support/forged-tokens';
import { ProofMaker } from '../support/proof';
import { testSettings } from '../support/settings';

const page = resolve(__dirname, '../../docs/without-the-guard.md');
const python = '/usr/bin/python3';

/** Reads one token per line, and tells of each whose it is or why it is refused. */
const harness = `
import sys, jwt
from snippet import caller
for line in sys.stdin:
    try:
        print(caller("Bearer " + line.rstrip("\\n"))["sub"])
    except jwt.PyJWTError as error:
        print("refused")
`;

/** docs/without-the-guard.md. The snippets are read from the page, so it cannot say anything else than what runs here. */
describe('the page "Without the guard"', () => {
  const pem = newKeyPem();
  let text: string;
  let service: TestService;
  let keys: Server;
  let folder: string;
  let tokens: { access: string; refresh: string };
  let bound: string;

  const snippetOf = (language: string) => {
    const found = [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))];
    expect(found).toHaveLength(1);
    return found[0]![1]!;
  };

  beforeAll(async () => {
    text = await readFile(page, 'utf8');
    folder = await mkdtemp(join(tmpdir(), 'without-the-guard-'));
    const settings = { JWT_ALGORITHM: 'ES256', JWT_PRIVATE_KEY: pem };
    // PyJWT reads the clock of this machine.
    service = await TestService.start(settings, { clock: new FakeClock(new Date()) });
    await service.givenUser('ann');
    tokens = await service.session('ann');
    const headers = ProofMaker.make(service.clock).headers('POST', '/login');
    bound = (await service.login('ann', undefined, {}, { headers })).body.data.access_token;
    const { body } = await service.get('/.well-known/jwks.json');
    keys = createServer((_request, response) => response.end(JSON.stringify(body)));
    await new Promise<void>((done) => keys.listen(0, '127.0.0.1', done));
    const address = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/.well-known/jwks.json`;
    const snippet = snippetOf('python')
      .replaceAll('https://auth.example.com/.well-known/jwks.json', address)
      .replaceAll('https://auth.example.com', testSettings.SYSTEM_URL);
    await writeFile(join(folder, 'snippet.py'), snippet);
    await writeFile(join(folder, 'harness.py'), harness);
  });
  afterAll(async () => {
    await new Promise((done) => keys.close(done));
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function ask(all: readonly string[]): Promise<string[]> {
    const child = spawn(python, ['harness.py'], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(`${all.join('\n')}\n`);
    const out: Buffer[] = [];
    for await (const chunk of child.stdout) out.push(chunk as Buffer);
    return Buffer.concat(out).toString().trimEnd().split('\n');
  }

  it('Python accepts an access token, and refuses everything else (T355)', async () => {
    const { access } = tokens;
    const refused = await forgedTokens(pem, tokens);
    const answers = await ask([access, ...Object.values(refused), access]);
    const verdicts = Object.keys(refused).map((what, n) => [what, answers[n + 1]]);
    expect(verdicts).toEqual(Object.keys(refused).map((what) => [what, 'refused']));
    expect([answers[0], answers.at(-1)]).toEqual([decodeJwt(access).sub, decodeJwt(access).sub]);
  });

  it('Python accepts a bound token without its proof, as the page says', async () => {
    expect(text).toMatch(/\| a \[bound token\].*\*\*accepts it without its proof/);
    expect(await ask([bound])).toEqual([decodeJwt(bound).sub]);
  });

  it.each(['python', 'java', 'go', 'csharp'])(
    'the snippet in %s names the keys and everything that it compares',
    (language) => {
      const snippet = snippetOf(language);
      for (const name of [
        'https://auth.example.com/.well-known/jwks.json',
        'ES256',
        '"portal"',
        'token_use',
        '"access"',
      ]) {
        expect([name, snippet.includes(name)]).toEqual([name, true]);
      }
      expect(snippet.replaceAll('https://auth.example.com/.well-known', '')).toContain('https://auth.example.com');
    },
  );

  it('has a row for each claim of an access token, and for no other', () => {
    const table = text.slice(text.indexOf('id="claims"'), text.indexOf('Ignore claims'));
    const rows = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name!);
    expect(rows.sort()).toEqual(Object.keys(decodeJwt(bound)).sort());
  });
});
