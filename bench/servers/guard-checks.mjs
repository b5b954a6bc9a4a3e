// Verifies access tokens with @portal-auth/guard in the mode `jwks`, one after the other on one thread, as a service
// behind the portal does. Prints one summary as JSON.
import { verifier } from '../../guard/dist/index.js';

const { issuer, jwksUrl, tokens, seconds } = JSON.parse(process.env.CHECKS);
const checks = verifier({ mode: 'jwks', issuer, audience: 'portal', jwksUrl });

let count = 0;
const begun = performance.now();
while (performance.now() - begun < seconds * 1000) {
  const { status } = await checks.verify(tokens[count % tokens.length]);
  if (status !== 'valid') throw new Error(`a token is ${status}`);
  count++;
}
const took = (performance.now() - begun) / 1000;
console.log(JSON.stringify({ count, seconds: took, rate: count / took }));
