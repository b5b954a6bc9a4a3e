/** A setting that the server wrote into this page (`<meta name="portal:…">` in index.html). Empty if it is not set. */
function told(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="portal:${name}"]`)?.content ?? '';
}

/** Base URL of the service. An empty string stands for the origin of this page. */
export const serviceUrl = told('service').replace(/\/+$/, '');

/** Path of the demo's outbox. Empty outside the demo. */
export const outboxUrl = told('outbox');

/** The address of the OpenID provider, without a slash at its end. Empty where applications do not sign in here. */
export const issuerUrl = told('issuer');
