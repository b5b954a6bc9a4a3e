import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DemoModule } from '../../src/demo/demo.module';
import { demoCaptchaToken, demoGuide } from '../../src/demo/demo-guide';
import { DemoSeed } from '../../src/demo/demo-seed';
import { TestService } from '../support/app';
import { contract } from '../support/contract';
import { DirectoryStub } from '../support/directory-stub';
import { everything } from '../support/everything';
import { givens } from '../support/guide/givens';
import {
  blocksOf,
  commonSettings,
  documentedPlaceholders,
  type Flow,
  placeholdersIn,
  readGuide,
} from '../support/guide/guide-page';
import { GuideReplay } from '../support/guide/guide-replay';
import { GuideServices } from '../support/guide/guide-services';
import { mailsStay } from '../support/mfa';
import { knownPlaceholders } from '../support/guide/placeholders';

const page = readFileSync(join(__dirname, '../../docs/integration.md'), 'utf8');
const flows = readGuide(page);
const steps = flows.flatMap((flow) => flow.steps);

/** Every request of the page is sent as it stands there. The page therefore cannot promise what the service does not do. */
describe('docs/integration.md', () => {
  let directory: DirectoryStub;
  let services: GuideServices;
  const common = commonSettings(page);
  beforeAll(async () => {
    directory = await DirectoryStub.start();
    // The page shows some values that these settings change.
    const shown = Object.keys(everything).filter((name) => /^(BRAND|SUPPORT|PRIVACY|IMPRINT|MFA|JWT_ALG)/.test(name));
    const unset = Object.fromEntries(shown.map((name) => [name, '']));
    services = new GuideServices({ ...unset, ...common, ...directory.settings });
  });
  afterAll(async () => {
    await services.stop();
    await directory.stop();
  });

  const replay = async (flow: Flow) => {
    const service = await services.with(flow.settings);
    // The cooldowns of the flow before are over, and its mails are older.
    services.clock.advanceSeconds(3600);
    directory.serviceBind = { code: 0 };
    const guide = new GuideReplay({ service, directory, page, origin: common.SYSTEM_URL! });
    await givens[flow.title]?.(guide);
    await guide.run(flow);
  };

  it.each(flows.map((flow) => [flow.title, flow] as const))(
    '%s: the service answers as the page says',
    (_title, flow) => replay(flow),
  );

  describe('a page that is wrong fails', () => {
    const [flow] = readGuide(
      [
        ...['## Log in', '```http', 'POST /refresh HTTP/1.1', 'Content-Type: application/json', '', '{}', '```'],
        ...['```http', 'HTTP/1.1 401 Unauthorized', 'Content-Type: application/json; charset=utf-8', ''],
        ...['{ "error_code": "AUTH_401006", "msg": "The refresh token is not valid." }', '```'],
      ].join('\n'),
    );
    const [step] = flow!.steps;
    const changed = (answer: object) =>
      replay({ ...flow!, steps: [{ ...step!, answer: { ...step!.answer, ...answer } }] });

    it('and one that is right does not', () => changed({}));

    it.each([
      ['the status', { status: 400 }],
      ['a header', { headers: { 'content-type': 'text/plain' } }],
      ['a header that is not sent', { headers: { 'retry-after': '1' } }],
      ['a value', { body: '{ "error_code": "AUTH_401005", "msg": "The refresh token is not valid." }' }],
      ['a field that is missing', { body: '{ "error_code": "AUTH_401006" }' }],
      [
        'a field that is not sent',
        { body: '{ "error_code": "AUTH_401006", "msg": "The refresh token is not valid.", "data": {} }' },
      ],
      ['the type of a value', { body: '{ "error_code": 401006, "msg": "The refresh token is not valid." }' }],
      ['the form of a placeholder', { body: '{ "error_code": "{uid}", "msg": "The refresh token is not valid." }' }],
    ])('because of %s', (_what, answer) => expect(changed(answer)).rejects.toThrow('POST /refresh'));

    it.each([
      ['a request without an answer', '```http\nGET /user/me HTTP/1.1\n```'],
      ['an answer without a request', '```http\nHTTP/1.1 200 OK\n```'],
      ['a reason that does not belong to the status', '```http\nGET / HTTP/1.1\n```\n```http\nHTTP/1.1 200 Fine\n```'],
      ['a request that is none', '```http\nGET the user\n```\n```http\nHTTP/1.1 200 OK\n```'],
    ])('because of %s', (_what, text) => expect(() => readGuide(`## Heading\n${text}\n`)).toThrow(/^line [25]: /));
  });

  it('replays every block that shows a request or an answer', () => {
    const shown = blocksOf(page, 1).filter(({ text }) => text.includes('HTTP/1.1'));
    expect(shown.filter(({ language }) => language !== 'http')).toEqual([]);
    expect(shown).toHaveLength(2 * steps.length);
    expect(page.match(/^\s*(```|~~~)/gm)).toHaveLength(2 * blocksOf(page, 1).length);
  });

  it('has every endpoint of openapi.json, without those of the administration and of the pages alone', () => {
    const sent = steps.map(({ request: { method, path } }) => `${method} ${path.replace(/\?.*/, '')}`);
    const missing = Object.entries(contract.paths)
      // Those of a sign-in at an application or at an identity provider need the cookie of a browser that was there.
      .filter(([path]) => !/^\/(admin|applications\/interactions|login\/external)(\/|$)/.test(path))
      .flatMap(([path, operations]) => Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`))
      .filter(
        (operation) => !sent.some((one) => one.replace(/\{\w+\}/g, '{}') === operation.replace(/\{\w+\}/g, '{}')),
      );
    expect(missing).toEqual([]);
  });

  it('explains each placeholder that it uses, and no other', () => {
    const used = blocksOf(page, 1).filter(({ language }) => language === 'http');
    const names = (list: string[]) => [...new Set(list)].sort();
    expect(names(documentedPlaceholders(page))).toEqual(names(used.flatMap(({ text }) => placeholdersIn(text))));
    expect(names(documentedPlaceholders(page))).toEqual(names(knownPlaceholders));
  });

  it('has a flow for what each given prepares', () => {
    const titles = flows.map(({ title }) => title);
    expect(Object.keys(givens).filter((title) => !titles.includes(title))).toEqual([]);
  });
});

describe('npm start', () => {
  it('prints a request that logs in, as it stands there', async () => {
    const settings = { ...mailsStay, CAPTCHA_TEST_TOKEN: demoCaptchaToken };
    const demo = await TestService.start(settings, { module: (config) => DemoModule.with(config) });
    await demo.app.get(DemoSeed).run();
    const command = /^curl -s http:\/\/localhost:3000(\S+) -H '([^:]+): ([^']+)' -d '(.+)'$/m.exec(demoGuide(3000, ''));
    const [, path, name, value, body] = command!;
    const { status, body: answer } = await demo.post(path!, body, { headers: { [name!.toLowerCase()]: value! } });
    expect(status).toBe(200);
    expect(answer.data).toMatchObject({ access_token: expect.any(String), user_info: { login_name: 'alice' } });
    await demo.stop();
  });
});
