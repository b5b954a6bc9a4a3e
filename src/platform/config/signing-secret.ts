const prefix = 'whsec_';
/** The lengths that Standard Webhooks demands of a key. */
const [shortestKey, longestKey] = [24, 64];

export const signingSecretRule = `must be whsec_ and ${shortestKey} to ${longestKey} bytes in base64`;

/** Whether the text is a secret of Standard Webhooks (https://www.standardwebhooks.com). */
export function isSigningSecret(secret: string): boolean {
  if (!secret.startsWith(prefix)) return false;
  const text = secret.slice(prefix.length);
  const key = Buffer.from(text, 'base64');
  // Node ignores what is not base64, so only a text that comes out again is base64.
  return key.toString('base64') === text && key.length >= shortestKey && key.length <= longestKey;
}
