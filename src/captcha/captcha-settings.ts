import type { SettingsReader } from '../platform/config/settings-reader';

const providers = ['altcha', 'turnstile', 'hcaptcha', 'recaptcha'] as const;
export type CaptchaProviderName = (typeof providers)[number];
export type SiteverifyProviderName = Exclude<CaptchaProviderName, 'altcha'>;

const verifyUrls: Record<SiteverifyProviderName, string> = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
  recaptcha: 'https://www.google.com/recaptcha/api/siteverify',
};

export interface SiteverifySettings {
  readonly secret: string;
  readonly verifyUrl: string;
  /** Public: the widget in the browser needs it. */
  readonly siteKey?: string;
}

export abstract class CaptchaSettings {
  /** The providers in the order of use. A provider is used only while all providers before it are unavailable. */
  abstract readonly providers: readonly CaptchaProviderName[];
  abstract readonly siteverify: Partial<Record<SiteverifyProviderName, SiteverifySettings>>;
  abstract readonly timeoutMs: number;
  abstract readonly expectedHostname?: string;
  abstract readonly expectedAction?: string;
  /** One fixed token that is always valid, for tests and the demo only. */
  abstract readonly testToken?: string;
}

interface Surroundings {
  readonly production: boolean;
  readonly testingAllowed: boolean;
  /** Whether this service serves the pages, which show the widget. */
  readonly pages: boolean;
}

export function readCaptchaSettings(env: SettingsReader, context: Surroundings): CaptchaSettings {
  const siteverifyNames = Object.keys(verifyUrls).map((name) => `CAPTCHA_${name.toUpperCase()}`);
  for (const prefix of ['CAPTCHA', ...siteverifyNames])
    env.mention(`${prefix}_SECRET`, `${prefix}_VERIFY_URL`, `${prefix}_SITE_KEY`);
  const names = env.list('CAPTCHA_PROVIDER');
  const chosen = names.length === 0 ? ['altcha'] : names;
  const known = chosen.filter((name): name is CaptchaProviderName => (providers as readonly string[]).includes(name));
  if (known.length < chosen.length || new Set(chosen).size < chosen.length) {
    env.problem(
      'CAPTCHA_PROVIDER',
      `must be a list of different names from ${providers.join(', ')}, separated by commas`,
    );
  }
  const testToken = env.optional('CAPTCHA_TEST_TOKEN');
  if (testToken !== undefined && !context.testingAllowed) {
    env.problem(
      'CAPTCHA_TEST_TOKEN',
      'is refused in production and on a HOST that is not a loopback address: remove it',
    );
  }
  const expectedAction = env.optional('CAPTCHA_EXPECTED_ACTION');
  if (expectedAction !== undefined && known[0] === 'hcaptcha') {
    // The pages ask the first provider, so every login would be refused. Further ones are asked while the first one is away.
    env.problem(
      'CAPTCHA_EXPECTED_ACTION',
      'cannot be used with hcaptcha as the first CAPTCHA_PROVIDER, because its answers have no action: remove it',
    );
  }
  return {
    providers: known,
    siteverify: Object.fromEntries(
      known.filter((name) => name !== 'altcha').map((name) => [name, readSiteverify(env, name, known, context)]),
    ),
    timeoutMs: env.count('CAPTCHA_TIMEOUT_MS', 3000, { max: 30_000 }),
    expectedHostname: env.optional('CAPTCHA_EXPECTED_HOSTNAME'),
    expectedAction,
    testToken,
  };
}

/**
 * Reads the settings of one provider, such as `CAPTCHA_TURNSTILE_SECRET`. A single provider may use `CAPTCHA_SECRET`.
 */
function readSiteverify(
  env: SettingsReader,
  name: SiteverifyProviderName,
  all: readonly CaptchaProviderName[],
  { production, pages }: Surroundings,
): SiteverifySettings {
  const prefix = `CAPTCHA_${name.toUpperCase()}`;
  const alone = all.filter((other) => other !== 'altcha').length === 1;
  if (alone) {
    for (const part of ['SECRET', 'VERIFY_URL', 'SITE_KEY']) env.refuseTwoNames(`CAPTCHA_${part}`, `${prefix}_${part}`);
  }
  const secret = env.optional(`${prefix}_SECRET`) ?? (alone ? env.optional('CAPTCHA_SECRET') : undefined);
  if (secret === undefined)
    env.problem(alone ? 'CAPTCHA_SECRET' : `${prefix}_SECRET`, `is required with CAPTCHA_PROVIDER=${name}`);
  const urlKey =
    alone && env.optional(`${prefix}_VERIFY_URL`) === undefined ? 'CAPTCHA_VERIFY_URL' : `${prefix}_VERIFY_URL`;
  // Production requires TLS, because the request contains the secret and the answer decides about a login.
  const protocols = production ? ['https:'] : ['https:', 'http:'];
  const siteKey = env.optional(`${prefix}_SITE_KEY`) ?? (alone ? env.optional('CAPTCHA_SITE_KEY') : undefined);
  if (siteKey === undefined && pages) {
    env.problem(
      alone ? 'CAPTCHA_SITE_KEY' : `${prefix}_SITE_KEY`,
      `is not set, and the pages (PORTAL) need it for ${name}`,
    );
  }
  return { secret: secret ?? '', verifyUrl: env.url(urlKey, protocols, verifyUrls[name]), siteKey };
}
