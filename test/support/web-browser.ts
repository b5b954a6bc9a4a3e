import { request, type IncomingHttpHeaders } from 'node:http';

interface Cookie {
  readonly origin: string;
  readonly path: string;
  readonly name: string;
  readonly value: string;
}

export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Sent {
  readonly form?: Record<string, string>;
  readonly json?: unknown;
  readonly headers?: Record<string, string>;
}

/** A browser without scripts over several sites, which are told apart by their ports. */
export class WebBrowser {
  private cookies: Cookie[] = [];

  /** One request, whose redirect is not followed. */
  async ask(url: string | URL, { form, json, headers }: Sent = {}): Promise<Page> {
    const target = new URL(url);
    const body: string | undefined = form === undefined ? JSON.stringify(json) : new URLSearchParams(form).toString();
    const type = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded';
    const sent = {
      // As a browser that opens a page: Apache answers 401 instead of a redirect to anything else.
      ...{ accept: 'text/html,*/*', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      ...headers,
      cookie: this.cookiesFor(target),
      ...(body !== undefined && { 'content-type': type, 'content-length': `${Buffer.byteLength(body)}` }),
    };
    const page = await new Promise<Page>((done, failed) => {
      const asked = request(
        target,
        { method: body === undefined ? 'GET' : 'POST', headers: sent, agent: false },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', failed);
          answer.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            done({ url: target, status: answer.statusCode ?? 0, headers: answer.headers, text });
          });
        },
      );
      asked.on('error', failed);
      asked.end(body);
    });
    for (const line of page.headers['set-cookie'] ?? []) this.store(target.origin, line);
    return page;
  }

  /** Follows redirects, and sends forms that send themselves. `stop` looks at an address before it is asked. */
  async go(url: string | URL, stop: (url: URL) => boolean): Promise<Page> {
    let [target, next]: [URL, Sent] = [new URL(url), {}];
    for (let hops = 0; hops < 20; hops++) {
      if (stop(target)) return { url: target, status: 0, headers: {}, text: '' };
      const page = await this.ask(target, next);
      const location = page.headers.location ?? null;
      const form = location === null ? ownForm(page.text) : undefined;
      if (location === null && form === undefined) return page;
      [target, next] = [new URL(location ?? form!.action, page.url), form === undefined ? {} : { form: form.fields }];
    }
    throw new Error(`${target.href}: too many redirects`);
  }

  forget(): void {
    this.cookies = [];
  }

  private cookiesFor({ origin, pathname }: URL): string {
    return this.cookies
      .filter((one) => one.origin === origin && (pathname + '/').startsWith(one.path.replace(/\/?$/, '/')))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  private store(origin: string, line: string): void {
    const [pair = '', ...attributes] = line.split(/; */);
    const at = pair.indexOf('=');
    const named = (attribute: string) =>
      attributes.find((one) => one.toLowerCase().startsWith(`${attribute}=`))?.slice(attribute.length + 1);
    const cookie = { origin, path: named('path') ?? '/', name: pair.slice(0, at), value: pair.slice(at + 1) };
    this.cookies = this.cookies.filter(
      (one) => one.origin !== origin || one.path !== cookie.path || one.name !== cookie.name,
    );
    const expires = named('expires');
    const gone = named('max-age') === '0' || (expires !== undefined && new Date(expires).getTime() <= 0);
    if (!gone && cookie.value !== '') this.cookies.push(cookie);
  }
}

/** The form of a page that a script sends at once. */
function ownForm(html: string): { action: string; fields: Record<string, string> } | undefined {
  if (!/\.submit\(\)/.test(html)) return undefined;
  const action = /<form[^>]* action="([^"]+)"/i.exec(html)?.[1];
  if (action === undefined) return undefined;
  const inputs = [...html.matchAll(/<input[^>]*>/gi)].map(([input]) => input);
  const attribute = (input: string, name: string) => new RegExp(` ${name}="([^"]*)"`, 'i').exec(input)?.[1] ?? '';
  const fields = inputs.map((input) => [attribute(input, 'name'), attribute(input, 'value')]);
  return { action: action.replaceAll('&amp;', '&'), fields: Object.fromEntries(fields) as Record<string, string> };
}
