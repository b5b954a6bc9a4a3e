// A page that signs in by OpenID Connect: authorization code with PKCE, without a library and without a server.
// The order of the checks is that of OpenID Connect Core 1.0 section 3.1.3.7.

const here = location.origin + location.pathname;
const element = (id) => document.getElementById(id);
const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

async function json(url, options) {
  const response = await fetch(url, options);
  const body = await response.json();
  if (!response.ok) throw new Error(body.error_description ?? body.error ?? `${url} answered ${response.status}`);
  return body;
}

let config;
let provider;

async function discover() {
  config = await json('config.json');
  provider = await json(`${config.issuer}/.well-known/openid-configuration`);
  if (provider.issuer !== config.issuer) throw new Error('the issuer is another one');
}

/** What belongs to one sign-in stays in this tab. */
async function signIn(more = {}) {
  const pending = { state: random(), nonce: random(), verifier: random() };
  sessionStorage.setItem('pending', JSON.stringify(pending));
  const challenge = base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pending.verifier)));
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: config.client_id,
    redirect_uri: here,
    scope: 'openid profile email',
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  });
  location.assign(`${provider.authorization_endpoint}?${query}`);
}

/** The answer of the provider is in the address. It is removed, so that a reload does not use the code twice. */
async function finishSignIn(answer) {
  const pending = JSON.parse(sessionStorage.getItem('pending') ?? '{}');
  sessionStorage.removeItem('pending');
  history.replaceState(null, '', here);
  if (answer.get('state') !== pending.state) throw new Error('this answer belongs to no sign-in of this tab');
  if (answer.get('iss') !== config.issuer) throw new Error('this answer is from another provider (RFC 9207)');
  if (answer.has('error')) throw new Error(answer.get('error_description') ?? answer.get('error'));
  const tokens = await json(provider.token_endpoint, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: config.client_id,
      redirect_uri: here,
      code: answer.get('code'),
      code_verifier: pending.verifier,
    }),
  });
  const claims = await verified(tokens.id_token);
  if (claims.nonce !== pending.nonce) throw new Error('the ID token belongs to another sign-in');
  const userinfo = await json(provider.userinfo_endpoint, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  });
  if (userinfo.sub !== claims.sub) throw new Error('the user of /userinfo is another one');
  sessionStorage.setItem('session', JSON.stringify({ idToken: tokens.id_token, claims, userinfo }));
}

async function verified(idToken) {
  const [head, body, signature] = idToken.split('.');
  const { alg, kid } = JSON.parse(new TextDecoder().decode(bytesOf(head)));
  const algorithm = {
    ES256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
    RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  }[alg];
  const { keys } = await json(provider.jwks_uri);
  const published = keys.find((one) => one.kid === kid);
  if (algorithm === undefined || published === undefined) throw new Error('the ID token is signed by an unknown key');
  const key = await crypto.subtle.importKey('jwk', published, algorithm, false, ['verify']);
  const signed = new TextEncoder().encode(`${head}.${body}`);
  if (!(await crypto.subtle.verify(algorithm, key, bytesOf(signature), signed))) throw new Error('wrong signature');
  const claims = JSON.parse(new TextDecoder().decode(bytesOf(body)));
  if (claims.iss !== config.issuer || claims.aud !== config.client_id) throw new Error('the ID token is not for us');
  if (claims.exp * 1000 < Date.now()) throw new Error('the ID token has expired');
  return claims;
}

function signOut() {
  const { idToken } = JSON.parse(sessionStorage.getItem('session'));
  sessionStorage.removeItem('session');
  const query = new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: here });
  location.assign(`${provider.end_session_endpoint}?${query}`);
}

const times = ['iat', 'exp', 'auth_time'];

function fill(table, claims) {
  for (const [name, value] of Object.entries(claims)) {
    const row = table.insertRow();
    const head = document.createElement('th');
    head.scope = 'row';
    head.textContent = name;
    row.append(head);
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    row.insertCell().textContent = times.includes(name) ? new Date(value * 1000).toLocaleString() : text;
  }
}

function show() {
  const session = JSON.parse(sessionStorage.getItem('session'));
  element('signed-out').hidden = session !== null;
  element('signed-in').hidden = session === null;
  if (session === null) return;
  element('who').textContent = session.userinfo.name ?? session.userinfo.preferred_username ?? session.claims.sub;
  fill(element('claims'), session.claims);
  fill(element('userinfo'), session.userinfo);
}

element('sign-in').onclick = () => signIn();
element('again').onclick = () => signIn({ acr_values: 'urn:portal:acr:2' });
element('sign-out').onclick = signOut;
try {
  await discover();
  const answer = new URLSearchParams(location.search);
  if (answer.has('state') && (answer.has('code') || answer.has('error'))) await finishSignIn(answer);
} catch (error) {
  element('problem').textContent = `The sign-in has failed: ${error.message}`;
  element('problem').hidden = false;
}
show();
