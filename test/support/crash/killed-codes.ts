import { givenCaller } from '../admin';
import { applicationRow, askForTokens, exchange, OpenIdBrowser, sendTo } from '../openid';
import { arrived, givenProvider, rowsOf, type World } from './killed-changes';

/** A secret that works once. */
export interface OneTimeCode {
  /** @returns whether it was accepted */
  use(url: string): Promise<boolean>;
  /** How many live sessions or tokens it has led to. */
  yields(): Promise<number>;
}

export interface KilledCode {
  readonly name: string;
  /** The write that spends it. */
  readonly spends: RegExp;
  /** A second use ends what the first one has led to. */
  readonly endsAll: boolean;
  /** @param url of the process that gives it out */
  given(world: World, url: string): Promise<OneTimeCode>;
}

const accepted = (status: number, refusal: number): boolean => {
  if (status !== 200 && status !== refusal) throw new Error(`the answer is ${status}`);
  return status === 200;
};

async function signedIn(world: World, url: string) {
  const { bearer } = await givenCaller(world.service);
  const { statement, values, application } = applicationRow(new Date());
  await world.service.database.affected(statement, values);
  const authorization = await new OpenIdBrowser(sendTo(url)).signIn(application, bearer);
  return { application, authorization };
}

/** Access tokens whose grant lives. */
const liveTokens = async (world: World, application: string): Promise<number> => {
  const live = `SELECT COUNT(*) AS n FROM oidc_records t JOIN oidc_records g ON g.id_hash = t.grant_hash
    WHERE t.application_id = ? AND t.kind = 'AccessToken'`;
  return Number((await rowsOf(world, live, [application]))[0]?.n);
};

export const codes: readonly KilledCode[] = [
  {
    name: 'a code of the OpenID provider',
    spends: /^UPDATE oidc_records SET consumed_at/,
    endsAll: true,
    given: async (world, url) => {
      const { application, authorization } = await signedIn(world, url);
      return {
        use: async (at) => accepted((await exchange(sendTo(at), application, authorization)).status, 400),
        yields: () => liveTokens(world, application.id),
      };
    },
  },
  {
    name: 'a refresh token of the OpenID provider',
    spends: /^UPDATE oidc_records SET consumed_at/,
    endsAll: true,
    given: async (world, url) => {
      const { application, authorization } = await signedIn(world, url);
      const { body } = await exchange(sendTo(url), application, authorization);
      const form = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) };
      const before = await liveTokens(world, application.id);
      return {
        use: async (at) => accepted((await askForTokens(sendTo(at), application, form)).status, 400),
        yields: async () => Math.max(0, (await liveTokens(world, application.id)) - before),
      };
    },
  },
  {
    name: 'the code of a sign-in at an identity provider',
    spends: /^UPDATE `external_sign_ins` SET `spent_at`/,
    endsAll: false,
    given: async (world, url) => {
      const [id, sub] = [await givenProvider(world), crypto.randomUUID()];
      const browser = await arrived(world, sub, id);
      const { code } = await browser.callback(url);
      // It lives a minute, and a busy machine needs longer to start the next process.
      const longer =
        'UPDATE external_sign_ins SET expires = UTC_TIMESTAMP() + INTERVAL 1 DAY WHERE identity_provider_id = ?';
      await world.sql.query(longer, [id]);
      const sessions = `SELECT COUNT(*) AS n FROM login_tokens t JOIN users u ON u.uid = t.user_identity
        WHERE u.login_name = ? AND t.jti = t.sid`;
      return {
        use: async (at) => {
          const answer = await fetch(`${at}/login/external`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', cookie: browser.cookie },
            body: JSON.stringify({ code }),
          });
          return accepted(answer.status, 401);
        },
        yields: async () => Number((await rowsOf(world, sessions, [sub]))[0]?.n),
      };
    },
  },
];
