/** What the page was told by whoever serves it (`<meta name="portal:…">` in index.html). */
function told(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="portal:${name}"]`)?.content ?? '';
}

/** Empty: the origin of this page. */
export const serviceUrl = told('service').replace(/\/+$/, '');

/** Only the demo has one. */
export const outboxUrl = told('outbox');
