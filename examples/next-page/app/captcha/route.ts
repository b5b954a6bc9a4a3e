import { settings } from '../../lib/settings';

/** The challenge of the service, whose address the browser does not know. */
export async function GET(): Promise<Response> {
  const { status, headers, body } = await fetch(`${settings.authUrl()}/captcha/challenge`, { cache: 'no-store' });
  const type = headers.get('content-type') ?? 'application/json';
  return new Response(body, { status, headers: { 'content-type': type, 'cache-control': 'no-store' } });
}
